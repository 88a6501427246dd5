"""Serves an archive over HTTP: requests that wait together are one batch, which runs in the program of its bucket.

    pip install "jaxaot[serve]"
    python examples/http_server.py model.jaxaot --port 8000
    curl localhost:8000/predict -d '[[0.1, 0.2, 0.3]]'
    curl localhost:8000/health

The archive holds a function from one tensor to one, the first dim of which changes:
`ja.export(model, x, dynamic_shapes=({0: ja.sizes.Dim("batch", max=32)},), with_gradients=False)`.
SIGTERM and Ctrl-C let what was asked be answered first.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import threading
import time
from collections.abc import AsyncGenerator, Callable, Generator

import numpy as np
import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

import jaxaot as ja

Run = Callable[[np.ndarray], np.ndarray]
"""A model on a batch: (n, …) to (n, …)."""

MOST_WAITING = 1000
"""Requests that may wait; others are told to come again."""


class Batches:
    """Requests that wait. While the model is at work on a batch, the next one gathers."""

    def __init__(self, run: Run, most_rows: int) -> None:
        self.run, self.most_rows = run, most_rows
        self.waiting: asyncio.Queue[tuple[np.ndarray, asyncio.Future[np.ndarray]]] = asyncio.Queue(MOST_WAITING)
        self.n_requests = self.n_batches = 0

    async def answer(self, rows: np.ndarray) -> np.ndarray:
        """Returns what the model says of rows.

        Raises:
          asyncio.QueueFull: If too many wait already.
        """
        answer = asyncio.get_running_loop().create_future()
        self.waiting.put_nowait((rows, answer))
        return await answer

    async def work(self) -> None:
        """Answers batch after batch, for ever."""
        later = None
        while True:
            batch = [later or await self.waiting.get()]
            later, n_rows = None, len(batch[0][0])
            while later is None and not self.waiting.empty():
                request = self.waiting.get_nowait()
                n_rows += len(request[0])
                if n_rows <= self.most_rows:
                    batch.append(request)
                else:
                    later = request
            self.n_requests, self.n_batches = self.n_requests + len(batch), self.n_batches + 1
            try:
                found = await asyncio.to_thread(self.run, np.concatenate([rows for rows, _ in batch]))
            except Exception as error:
                for _, answer in batch:
                    answer.cancelled() or answer.set_exception(error)
                continue
            ends = np.cumsum([len(rows) for rows, _ in batch])
            for (_, answer), part in zip(batch, np.split(found, ends[:-1]), strict=True):
                answer.cancelled() or answer.set_result(part)


def app_of(run: Run, shape: tuple[int, ...], dtype: str, most_rows: int) -> Starlette:
    """Returns an application that answers `POST /predict` and `GET /health`.

    Args:
      run: The model.
      shape: Of a row that it takes.
      dtype: Of the rows.
      most_rows: The largest batch.
    """
    batches = Batches(run, most_rows)

    @contextlib.asynccontextmanager
    async def lifespan(_: Starlette) -> AsyncGenerator[None, None]:
        def warm_up() -> None:
            for n in range(1, most_rows + 1):
                run(np.zeros((n, *shape), dtype))

        await asyncio.to_thread(warm_up)  # nobody is let in before
        work = asyncio.create_task(batches.work())
        yield
        work.cancel()  # all requests are answered by then

    async def predict(request: Request) -> JSONResponse:
        try:
            rows = np.asarray(await request.json()).astype(dtype, casting="same_kind")
        except (TypeError, ValueError) as error:
            return JSONResponse({"error": f"the body is no JSON list of rows of {dtype}: {error}"}, 400)
        if rows.shape[1:] != shape or not 1 <= len(rows) <= most_rows:
            taken = f"1 to {most_rows} rows of shape {list(shape)}"
            return JSONResponse({"error": f"{taken} are taken, and the body has shape {list(rows.shape)}"}, 400)
        try:
            return JSONResponse((await batches.answer(rows)).tolist())
        except asyncio.QueueFull:
            return JSONResponse({"error": "too many requests wait"}, 503, {"Retry-After": "1"})

    async def health(_: Request) -> JSONResponse:
        waiting = batches.waiting.qsize()
        said = {"status": "ready", "requests": batches.n_requests, "batches": batches.n_batches, "waiting": waiting}
        return JSONResponse(said)

    return Starlette(routes=[Route("/predict", predict, methods=["POST"]), Route("/health", health)], lifespan=lifespan)


def app_of_archive(path: str) -> Starlette:
    """Returns an application that answers by the function in an archive."""
    model = ja.load(path)
    (given,) = [one for one in model.signature.inputs if one.is_argument]
    dtype = str(model.signature.storages[given.storage].layout.dtype)
    ((dim, _),) = model.manifest["dims"]
    return app_of(lambda rows: model(ja.from_numpy(rows)).numpy(), tuple(given.view[0][1:]), dtype, dim["max"])


@contextlib.contextmanager
def serving(app: Starlette) -> Generator[str, None, None]:
    """Serves an application in a thread while a block runs, and gives the block its address."""
    server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="warning"))
    thread = threading.Thread(target=server.run)
    thread.start()
    while not server.started and thread.is_alive():
        time.sleep(0.01)
    try:
        yield f"http://127.0.0.1:{server.servers[0].sockets[0].getsockname()[1]}"
    finally:
        server.should_exit = True
        thread.join()


def main(archive: str, host: str = "127.0.0.1", port: int = 8000) -> None:
    """Serves until it is told to end."""
    uvicorn.run(app_of_archive(archive), host=host, port=port, access_log=False)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Serves an archive over HTTP.")
    parser.add_argument("archive")
    parser.add_argument("--host", default="127.0.0.1")
    parser.add_argument("--port", type=int, default=8000)
    main(**vars(parser.parse_args()))
