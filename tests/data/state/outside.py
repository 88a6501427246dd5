"""Effects on the world outside: they happen at each call, or a warning says that they do not."""
# ruff: noqa
# fmt: off

# case: print
_out = io.StringIO()
def f(x):
    print("a", file=_out)
    return x * 2
# change:
_out.write("b")
# look: _out.getvalue()

# case: print to stdout
_stdout, _out = sys.stdout, io.StringIO()
sys.stdout = _out
def f(x):
    print("a")
    return x * 2
# change:
_out.write("b")
# look: _out.getvalue()
# after:
sys.stdout = _stdout

# case: sys.stdout.write
_stdout, _out = sys.stdout, io.StringIO()
sys.stdout = _out
def f(x):
    sys.stdout.write("a")
    return x * 2
# change:
_out.write("b")
# look: _out.getvalue()
# after:
sys.stdout = _stdout

# case: sys.stderr.write
_stderr, _out = sys.stderr, io.StringIO()
sys.stderr = _out
def f(x):
    sys.stderr.write("a")
    return x * 2
# change:
_out.write("b")
# look: _out.getvalue()
# after:
sys.stderr = _stderr

# case: A3: write of a file
_file = tempfile.TemporaryFile("w+")
def f(x):
    _file.write("a")
    return x * 2
# change:
_file.write("b")
# look: (_file.flush(), _file.seek(0), _file.read())[2]
# after:
_file.close()

# case: write of a binary file
_file = tempfile.TemporaryFile("w+b")
def f(x):
    _file.write(b"a")
    return x * 2
# change:
_file.write(b"b")
# look: (_file.flush(), _file.seek(0), _file.read())[2]
# after:
_file.close()

# case: a file in an attribute of a logger of the user's
class Log:
    def __init__(self): self.file = tempfile.TemporaryFile("w+")
    def __call__(self, text): self.file.write(text + "\n")
_log = Log()
def f(x):
    _log("a")
    return x * 2
# change:
_log("b")
# look: (_log.file.flush(), _log.file.seek(0), _log.file.read())[2]
# after:
_log.file.close()

# case: a file that is opened inside
_path = os.path.join(tempfile.gettempdir(), f"state_{os.getpid()}.txt")
open(_path, "w").close()
def f(x):
    with open(_path, "a") as file: file.write("a")
    return x * 2
# change:
open(_path, "a").write("b")
# look: open(_path).read()
# after:
os.remove(_path)

# case: Path.write_text
_path = pathlib.Path(tempfile.gettempdir(), f"state_{os.getpid()}.txt")
_path.write_text("")
def f(x):
    _path.write_text("a")
    return x * 2
# change:
_path.write_text("b")
# look: _path.read_text()
# after:
_path.unlink()

# case: os.write
_read, _write = os.pipe()
def f(x):
    os.write(_write, b"a")
    return x * 2
# change:
os.write(_write, b"b")
# look: os.write(_write, b".") and os.read(_read, 9)
# after:
os.close(_read), os.close(_write)

# case: A3: csv.writer
_out = io.StringIO()
_writer = csv.writer(_out)
def f(x):
    _writer.writerow([1, 2])
    return x * 2
# change:
_writer.writerow([v])
# look: _out.getvalue()

# case: A3: csv.DictWriter
_out = io.StringIO()
_writer = csv.DictWriter(_out, ["a"])
def f(x):
    _writer.writerow({"a": 1})
    return x * 2
# change:
_writer.writerow({"a": v})
# look: _out.getvalue()

# case: json.dump to a file
_file = tempfile.TemporaryFile("w+")
def f(x):
    json.dump({"a": 1}, _file)
    return x * 2
# change:
_file.write("b")
# look: (_file.flush(), _file.seek(0), _file.read())[2]
# after:
_file.close()

# case: pickle.dump to a file
_file = tempfile.TemporaryFile("w+b")
def f(x):
    pickle.dump(1, _file)
    return x * 2
# change:
_file.write(b"b")
# look: (_file.flush(), _file.seek(0), _file.read())[2]
# after:
_file.close()

# case: A3: warnings.warn
_told = []
def f(x):
    warnings.warn("state", stacklevel=1)
    return x * 2
# change:
_told.clear()
_show, warnings.showwarning = warnings.showwarning, lambda *args, **kwargs: _told.append(str(args[0]))
# back:
warnings.showwarning = _show
# look: len(_told)
# after:
warnings.showwarning = _show

# case: A3: a tracker with a socket
import socket
class Tracker:
    def __init__(self): self.here, self.there = socket.socketpair()
    def log(self, values): self.here.send(json.dumps(values).encode())
    def read(self):
        self.there.setblocking(False)
        try: return self.there.recv(4096)
        except BlockingIOError: return b""
    def close(self): self.here.close(), self.there.close()
_tracker = Tracker()
def f(x):
    _tracker.log({"loss": 1.0})
    return x * 2
# change:
_tracker.log({"v": v})
# look: _tracker.read()
# after:
_tracker.close()

# case: A3: a tracker with a queue to a thread
class Tracker:
    def __init__(self): self.queue = queue.SimpleQueue()
    def log(self, values): self.queue.put(values)
    def read(self): return [self.queue.get() for _ in range(self.queue.qsize())]
_tracker = Tracker()
def f(x):
    _tracker.log({"loss": 1.0})
    return x * 2
# change:
_tracker.log({"v": v})
# look: _tracker.read()

# case: a database
import sqlite3
_db = sqlite3.connect(":memory:")
_db.execute("create table a (k)")
def f(x):
    _db.execute("insert into a values (1)")
    return x * 2
# change:
_db.execute("insert into a values (2)")
# look: _db.execute("select count(*) from a").fetchone()[0]
# after:
_db.close()

# case: logging to a stream
_out = io.StringIO()
_logger = logging.getLogger("state_out"); _logger.propagate = False
_handler = logging.StreamHandler(_out); _logger.addHandler(_handler)
def f(x):
    _logger.warning("a")
    return x * 2
# change:
_logger.warning("b")
# look: _out.getvalue()
# after:
_logger.removeHandler(_handler)

# case: logging.LoggerAdapter
_out = io.StringIO()
_logger = logging.getLogger("state_out"); _logger.propagate = False
_handler = logging.StreamHandler(_out); _logger.addHandler(_handler)
_adapter = logging.LoggerAdapter(_logger, {})
def f(x):
    _adapter.error("a")
    return x * 2
# change:
_adapter.error("b")
# look: _out.getvalue()
# after:
_logger.removeHandler(_handler)

# case: a file that is removed
_path = os.path.join(tempfile.gettempdir(), f"state_{os.getpid()}.txt")
open(_path, "w").close()
def f(x):
    os.remove(_path)
    return x * 2
# change:
open(_path, "w").close()
# look: os.path.exists(_path) and not open(_path, "a").close() or open(_path, "w").close()
# after:
os.path.exists(_path) and os.remove(_path)

# case: os.makedirs
import shutil
_path = os.path.join(tempfile.gettempdir(), f"state_{os.getpid()}.d")
def f(x):
    os.makedirs(_path, exist_ok=True)
    return x * 2
# change:
shutil.rmtree(_path, ignore_errors=True)
# look: os.path.isdir(_path)
# after:
shutil.rmtree(_path, ignore_errors=True)

# case: a subprocess
import subprocess
_path = os.path.join(tempfile.gettempdir(), f"state_{os.getpid()}.txt")
open(_path, "w").close()
def f(x):
    subprocess.run(["/bin/sh", "-c", f"printf a >> {_path}"])
    return x * 2
# change:
open(_path, "a").write("b")
# look: open(_path).read()
# after:
os.remove(_path)

# case: os.system
_path = os.path.join(tempfile.gettempdir(), f"state_{os.getpid()}.txt")
open(_path, "w").close()
def f(x):
    os.system(f"printf a >> {_path}")
    return x * 2
# change:
open(_path, "a").write("b")
# look: open(_path).read()
# after:
os.remove(_path)

# case: np.save
_path = os.path.join(tempfile.gettempdir(), f"state_{os.getpid()}.npy")
_a = np.ones(2)
def f(x):
    np.save(_path, _a)
    return x * 2
# change:
os.path.exists(_path) and os.remove(_path)
# look: os.path.exists(_path)
# after:
os.path.exists(_path) and os.remove(_path)

# case: time.sleep
import time
def f(x):
    time.sleep(0.002)
    return x * 2
# change:
pass
# look: round(0.001)

# case: an atexit function
import atexit
_n = [0]
_register, atexit.register = atexit.register, lambda fn: _n.__setitem__(0, _n[0] + 1)
def f(x):
    atexit.register(f)
    return x * 2
# change:
_n[0] = 0
# look: _n[0]
# after:
atexit.register = _register

# case: a memory map
import mmap
_map = mmap.mmap(-1, 8)
def f(x):
    _map[0] = _map[0] + 1
    return x * 2
# change:
_map[0] = v
# look: _map[0]
# after:
_map.close()

# case: a ctypes array
import ctypes
_a = (ctypes.c_int * 2)(0, 0)
def f(x):
    _a[0] += 1
    return x * 2
# change:
_a[0] = v
# look: _a[0]

# case: a progress written with a carriage return
_out = io.StringIO()
_o = Box(n=0)
def f(x):
    _o.n += 1
    _out.write(f"\r{_o.n}")
    return x * 2
# change:
_o.n = v
# look: _out.getvalue()

# case: the content of a file that is read
_path = os.path.join(tempfile.gettempdir(), f"state_{os.getpid()}.txt")
open(_path, "w").write("2")
def f(x): return x * int(open(_path).read())
# change:
open(_path, "w").write(str(v))
# after:
os.remove(_path)
