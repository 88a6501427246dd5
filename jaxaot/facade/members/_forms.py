"""The functions of the op table, written by tools/forms.py: each by the fingerprint of its text."""
# pyright: reportUndefinedVariable=false, reportRedeclaration=false

from collections.abc import Callable
from typing import Any

from jaxaot.facade.dispatch.signatures import same_as
from jaxaot.ops.schema import REQUIRED as _required

_same_A = same_as("A")
_same_dim = same_as("dim")
_same_elements = same_as("elements")
_same_input = same_as("input")
_same_keepdim = same_as("keepdim")
_same_test_elements = same_as("test_elements")
_same_training = same_as("training")
_same_values = same_as("values")
_same_x = same_as("x")

FORMS: dict[str, Callable[..., Any]] = {}


def rad2deg(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["5674a3b4d0c760ea025c4e3b"] = rad2deg


def rad2deg_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["46540291c65fbb69fba42719"] = rad2deg_


def deg2rad(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["ded48667d08571307624f17e"] = deg2rad


def deg2rad_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["386218121fcf91cc4252c36c"] = deg2rad_


def sqrt(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["8a14073c314e44af63d3bdbb"] = sqrt


def sqrt_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["61d08b049bc113f13e850de7"] = sqrt_


def rsqrt(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["246ce333d9b02f82d135d4f8"] = rsqrt


def rsqrt_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["ab959c6e709062ef497709cf"] = rsqrt_


def reciprocal(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["522af4db6a4f3b0a90d7ea6f"] = reciprocal


def reciprocal_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["6708d2cd1d8f00709f1fc74f"] = reciprocal_


def exp(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["3c1c20dcb786323d1b258559"] = exp


def exp_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["84a3643f97ba6eb8e324e23b"] = exp_


def log(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["faa47060de7da55a9cce5494"] = log


def log_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["c114db8afcebf8e4893f8978"] = log_


def log2(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["617f1a401dd0a124e15b3347"] = log2


def log2_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["24f72fdab17c7921ca5538cb"] = log2_


def log10(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["2fd86d160898d0e2c1137383"] = log10


def log10_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["093c90750e6163e65275b2a0"] = log10_


def sin(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["98de5ae45b03b09cabf67656"] = sin


def sin_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["e12d919fd9e64b596bc6f526"] = sin_


def cos(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["8b96c0842a8cec6636224054"] = cos


def cos_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["1d46bba6ff6eef7756e09ae1"] = cos_


def tan(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["7f33d5bc77b3fd644cded2cf"] = tan


def tan_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["ff89b76bc014d86a763907bc"] = tan_


def asin(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["16e042d22515e44a77aabd62"] = asin


def asin_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["0e56a9894978dc492c390702"] = asin_


def acos(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["fde840088b28b57a6cb900b6"] = acos


def acos_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["d63ce20d20426114069cb752"] = acos_


def atan(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["39931ce9e3423032d5d12704"] = atan


def atan_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["ffdf9b2c871b24cb0baed690"] = atan_


def sinh(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["90399f5d95898d4287e9e0ad"] = sinh


def sinh_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["06945be81d0f39439604baca"] = sinh_


def cosh(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["829a56d75e691da96c215292"] = cosh


def cosh_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["9419e7f2b9020526f605df87"] = cosh_


def tanh(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["a74c4b771e40169434e584af"] = tanh


def tanh_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["7c6cb11b07c03e63e26e513e"] = tanh_


def asinh(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["c2a8c647372a30e9acd16652"] = asinh


def asinh_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["6a357c6d58a7238aa6323705"] = asinh_


def acosh(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["d340b5dfca6ea5c5bb39beac"] = acosh


def acosh_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["59d5fb9eed18c4a3a9b4fd46"] = acosh_


def atanh(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["3edde2418e6d3739c889ff26"] = atanh


def atanh_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["1143d153406facd181dee996"] = atanh_


def abs(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["bd0e7939746bdae74b7fe15b"] = abs


def abs_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["a9d08c99a8c54d21daa09e2b"] = abs_


def neg(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["0bcbde4a0455f342868c7a11"] = neg


def neg_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["9c61d37f9ba1ff1f7ed5b84a"] = neg_


def positive(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["ad4bbde1aeb2b7bbda36a5e6"] = positive


def positive_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["d22d4f28a71d0b398539e076"] = positive_


def sgn(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["53d3768989c43688fd83853f"] = sgn


def sgn_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["afa61ea303d9d78245831d15"] = sgn_


def square(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["eea87b40b38f4bf07a77aa0d"] = square


def square_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["a0d9d2eeff77a6f640c8946a"] = square_


def conj_physical(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["d8e247c67c8dea96b9c1d1de"] = conj_physical


def conj_physical_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["3db271af432e3842773b06ee"] = conj_physical_


def sign(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["af46ecb29453cb2d5ec80af2"] = sign


def sign_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["2b200c6f1718671763646029"] = sign_


def frac(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["7cb221eb0a5b23f8d615be2a"] = frac


def frac_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["48df1bc50450e90f3c03e333"] = frac_


def ceil(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["348e0600cfc53ebd19d56cba"] = ceil


def ceil_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["55b4bdba72b0dedb3429da6c"] = ceil_


def floor(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["506c6f15ccb326717cf9b7c1"] = floor


def floor_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["5d15babbad8bd0238e1551f6"] = floor_


def trunc(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["9e242f789d2835db03617ab9"] = trunc


def trunc_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["5d3ff12be8d204d0c283ffa6"] = trunc_


def round(input, *, decimals=0, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(decimals, 'decimals'), ), out, None)
    return _call(_spec, (input, ), (_number(decimals, 'decimals'), ), None)


FORMS["813fd4dff0795d01979b02b6"] = round


def round_(input, *, decimals=0):
    return _call_inplace(_spec, (input, ), (_number(decimals, 'decimals'), ), None)


FORMS["660afd9e16e3026bce605f7f"] = round_


def angle(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["b6eda044f8d0bc3f6bdeefc3"] = angle


def frexp(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["ebee80c9ce264e809dc8dc68"] = frexp


def nan_to_num(input, nan=None, posinf=None, neginf=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(nan, 'nan'), _number(posinf, 'posinf'), _number(neginf, 'neginf'), ), out, None)
    return _call(_spec, (input, ), (_number(nan, 'nan'), _number(posinf, 'posinf'), _number(neginf, 'neginf'), ), None)


FORMS["35c8912d81bc2b9e6eec21ce"] = nan_to_num


def nan_to_num_(input, nan=None, posinf=None, neginf=None):
    return _call_inplace(_spec, (input, ), (_number(nan, 'nan'), _number(posinf, 'posinf'), _number(neginf, 'neginf'), ), None)


FORMS["d144aba8052104cd4c62366e"] = nan_to_num_


def add(input, other, *, alpha=1, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, alpha, ), (), out, None)
    return _call(_spec, (input, other, alpha, ), (), None)


FORMS["544decca3953c2d42d9de61e"] = add


def add_(input, other, *, alpha=1):
    return _call_inplace(_spec, (input, other, alpha, ), (), None)


FORMS["5f5cc1b44f711a18a630a585"] = add_


def sub(input, other, *, alpha=1, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, alpha, ), (), out, None)
    return _call(_spec, (input, other, alpha, ), (), None)


FORMS["4c0be36aa1a0cee209421862"] = sub


def sub_(input, other, *, alpha=1):
    return _call_inplace(_spec, (input, other, alpha, ), (), None)


FORMS["f78c414af855bc7a2999c138"] = sub_


def rsub(input, other, *, alpha=1, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, alpha, ), (), out, None)
    return _call(_spec, (input, other, alpha, ), (), None)


FORMS["9982c8fd99262e4974bc6c06"] = rsub


def div(input, other, *, rounding_mode=None, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (rounding_mode, ), out, None)
    return _call(_spec, (input, other, ), (rounding_mode, ), None)


FORMS["834a85f909c90f089268ff26"] = div


def div_(input, other, *, rounding_mode=None):
    return _call_inplace(_spec, (input, other, ), (rounding_mode, ), None)


FORMS["9520b3b768999e61301a1c54"] = div_


def floor_divide(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["03da47ff55300fe01bc284b6"] = floor_divide


def floor_divide_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["ca5947e1a354e234234dd407"] = floor_divide_


def true_divide(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["f542d91bc23a4612bf4318c5"] = true_divide


def true_divide_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["f8f145f811c183ebf864bfb4"] = true_divide_


def pow(input=_required, exponent=_required, *, out=None, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("pow() missing 1 required positional argument: 'input'")
    if exponent is _required:
        raise TypeError("pow() missing 1 required positional argument: 'exponent'")
    if out is not None:
        return _call_out(_spec, (input, exponent, ), (), out, None)
    return _call(_spec, (input, exponent, ), (), None)


FORMS["cc7747be9ca923385d711cf4"] = pow


def pow_(input=_required, exponent=_required, *, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("pow() missing 1 required positional argument: 'input'")
    if exponent is _required:
        raise TypeError("pow() missing 1 required positional argument: 'exponent'")
    return _call_inplace(_spec, (input, exponent, ), (), None)


FORMS["83fb3134328072d07ebdcb1f"] = pow_


def float_power(input=_required, exponent=_required, *, out=None, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("float_power() missing 1 required positional argument: 'input'")
    if exponent is _required:
        raise TypeError("float_power() missing 1 required positional argument: 'exponent'")
    if out is not None:
        return _call_out(_spec, (input, exponent, ), (), out, None)
    return _call(_spec, (input, exponent, ), (), None)


FORMS["c8a3a0c188fa9c1f7af20633"] = float_power


def mul(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["3f533d715ad926135652884c"] = mul


def mul_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["2d2a50fe7d527be4a48bec17"] = mul_


def remainder(input=_required, other=_required, *, out=None, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("remainder() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("remainder() missing 1 required positional argument: 'other'")
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["2ac41efd8a836f618a4b0974"] = remainder


def remainder_(input=_required, other=_required, *, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("remainder() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("remainder() missing 1 required positional argument: 'other'")
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["232c4f461c510621e1c4ed08"] = remainder_


def fmod(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["382898cc34657479bb2749ff"] = fmod


def fmod_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["6c1f253927f3e9e5e942c0a5"] = fmod_


def gcd(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["93a19c769c628c4bdf9e2230"] = gcd


def gcd_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["289fed7bd5c0b1f791a50bd9"] = gcd_


def lcm(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["57bad23100eaded3c53c8aa6"] = lcm


def lcm_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["ea2f4514a210678cba38ab75"] = lcm_


def maximum(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["2a711c0e837080f41efa7ab5"] = maximum


def minimum(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["a9cd2570530f3566eaa24785"] = minimum


def fmax(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["622531451f0647b52924da39"] = fmax


def fmin(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["8d967f7202ce0a87dfe40d1b"] = fmin


def atan2(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["165fc01b9a2d704948baeb01"] = atan2


def atan2_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["c4a5afd4aaca5a714cf7fe0a"] = atan2_


def copysign(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["e4f54eb23748ae0a32aa23f0"] = copysign


def copysign_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["4a3f7c4b7047e9a4354245e3"] = copysign_


def hypot(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["235f1fec4d1eff48a45ddc7c"] = hypot


def hypot_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["046a37c460176bcf8ce95488"] = hypot_


def nextafter(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["aecfed0173fdba98de6d4ad6"] = nextafter


def nextafter_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["f059e0339a7750d858421d56"] = nextafter_


def logaddexp(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["a0e425fe3c352907ec48a6f9"] = logaddexp


def logaddexp2(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["ab2188516a5acf796eddef77"] = logaddexp2


def ldexp(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["945a8deaa27aaffa52e54edb"] = ldexp


def ldexp_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["07df3da80d458845416742a9"] = ldexp_


def heaviside(input, values, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, values, ), (), out, None)
    return _call(_spec, (input, values, ), (), None)


FORMS["7f6b17334c99c7ac14ba64cc"] = heaviside


def heaviside_(input, values):
    return _call_inplace(_spec, (input, values, ), (), None)


FORMS["4aa9ac57399075ba7195302d"] = heaviside_


def lerp(input, end, weight, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, end, weight, ), (), out, None)
    return _call(_spec, (input, end, weight, ), (), None)


FORMS["7d8b372b8d29a8ecef55fdea"] = lerp


def lerp_(input, end, weight):
    return _call_inplace(_spec, (input, end, weight, ), (), None)


FORMS["ba977ac0647936a7e20173f8"] = lerp_


def addcmul(input, tensor1, tensor2, *, value=1, out=None):
    if out is not None:
        return _call_out(_spec, (input, tensor1, tensor2, value, ), (), out, None)
    return _call(_spec, (input, tensor1, tensor2, value, ), (), None)


FORMS["288e43ff12a57ebec3de132a"] = addcmul


def addcmul_(input, tensor1, tensor2, *, value=1):
    return _call_inplace(_spec, (input, tensor1, tensor2, value, ), (), None)


FORMS["d03cf4d387d36970173a32ee"] = addcmul_


def addcdiv(input, tensor1, tensor2, *, value=1, out=None):
    if out is not None:
        return _call_out(_spec, (input, tensor1, tensor2, value, ), (), out, None)
    return _call(_spec, (input, tensor1, tensor2, value, ), (), None)


FORMS["6360dd7cb7605be69fd47dd2"] = addcdiv


def addcdiv_(input, tensor1, tensor2, *, value=1):
    return _call_inplace(_spec, (input, tensor1, tensor2, value, ), (), None)


FORMS["5608386586029a4f16f0f104"] = addcdiv_


def clamp(input, min=None, max=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, min, max, ), (), out, None)
    return _call(_spec, (input, min, max, ), (), None)


FORMS["05359a5f1c2f683f2ba2d0bb"] = clamp


def clamp_(input, min=None, max=None):
    return _call_inplace(_spec, (input, min, max, ), (), None)


FORMS["c05fd26f5536e4cb22523054"] = clamp_


def clamp_min(input, min, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, min, ), (), out, None)
    return _call(_spec, (input, min, ), (), None)


FORMS["446563d3a8741835cc1df8ce"] = clamp_min


def clamp_min_(input, min):
    return _call_inplace(_spec, (input, min, ), (), None)


FORMS["a6f8be35ff02239231c53081"] = clamp_min_


def clamp_max(input, max, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, max, ), (), out, None)
    return _call(_spec, (input, max, ), (), None)


FORMS["caf1cc04cf00a55871931cbe"] = clamp_max


def clamp_max_(input, max):
    return _call_inplace(_spec, (input, max, ), (), None)


FORMS["8a532e823bd5c502a6527cf2"] = clamp_max_


def sum(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (input, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["de3542852d76e755949e77a2"] = sum


def nansum(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (input, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["115312d02c31a3e996f4f9aa"] = nansum


def prod(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), keepdim, None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["2305cfea1ca400f8b23409f1"] = prod


def mean(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (input, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["2754a2712dc3553354546b6c"] = mean


def nanmean(input, dim=None, keepdim=False, *, dtype=None, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (input, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["151d545808ad77fa3b81ee53"] = nanmean


def logsumexp(input, dim=_required, keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("logsumexp() missing 1 required positional argument: 'dim'")
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_static(dim), keepdim, ), out, None)
    return _call(_spec, (input, ), (_static(dim), keepdim, ), None)


FORMS["27d833a9144fac00e22c01b6"] = logsumexp


def count_nonzero(input, dim=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_static(dim), ), out, None)
    return _call(_spec, (input, ), (_static(dim), ), None)


FORMS["d6bd75fd6a44dbc47cb3bca4"] = count_nonzero


def hash_tensor(input, dim=(), *, keepdim=False, mode=0, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_static(dim), keepdim, _number(mode, 'mode'), ), out, None)
    return _call(_spec, (input, ), (_static(dim), keepdim, _number(mode, 'mode'), ), None)


FORMS["c97bbc89c612a1e3c1551bfb"] = hash_tensor


def var(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), unbiased, keepdim, _static(correction), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), unbiased, keepdim, _static(correction), ), None)


FORMS["ae2bb8f907275c295d6cd688"] = var


def var_unbiased(input, unbiased, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (unbiased, ), out, None)
    return _call(_spec, (input, ), (unbiased, ), None)


FORMS["3e7e377614cb78cd737067c0"] = var_unbiased


def std(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), unbiased, keepdim, _static(correction), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), unbiased, keepdim, _static(correction), ), None)


FORMS["4d5ad892add1c52cacd8cdec"] = std


def std_unbiased(input, unbiased, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (unbiased, ), out, None)
    return _call(_spec, (input, ), (unbiased, ), None)


FORMS["3787c00e968d6b21636478c8"] = std_unbiased


def var_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), unbiased, keepdim, _static(correction), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), unbiased, keepdim, _static(correction), ), None)


FORMS["11b1320dc59d8890d296c7a3"] = var_mean


def var_mean_unbiased(input, unbiased):
    return _call(_spec, (input, ), (unbiased, ), None)


FORMS["add9d4b104226b85a7c4e781"] = var_mean_unbiased


def std_mean(input, dim=None, unbiased=None, keepdim=False, *, correction=None, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), unbiased, keepdim, _static(correction), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), unbiased, keepdim, _static(correction), ), None)


FORMS["ecd25ea83d5049700326485d"] = std_mean


def std_mean_unbiased(input, unbiased):
    return _call(_spec, (input, ), (unbiased, ), None)


FORMS["cba7f4e5a40d4527a2734d54"] = std_mean_unbiased


def amax(input, dim=(), keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_static(dim), keepdim, ), out, None)
    return _call(_spec, (input, ), (_static(dim), keepdim, ), None)


FORMS["ceb53680bd1cc271ffc7d434"] = amax


def amin(input, dim=(), keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_static(dim), keepdim, ), out, None)
    return _call(_spec, (input, ), (_static(dim), keepdim, ), None)


FORMS["3e0091460afdf8c32b8ee830"] = amin


def aminmax(input, *, dim=None, keepdim=False, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), None)


FORMS["c1721366b7f7cb0d9b98a9fe"] = aminmax


def max(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["14f6da0a7f65da1cdaf9ca05"] = max


def max_dim(input, dim=_required, keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("max() missing 1 required positional argument: 'dim'")
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), None)


FORMS["bdd35dfef8f7b4acf45ea64e"] = max_dim


def max_other(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["08a613a8474a1458ca21be4e"] = max_other


def min(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["7da03dbc162d44de053120fe"] = min


def min_dim(input, dim=_required, keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("min() missing 1 required positional argument: 'dim'")
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), None)


FORMS["122eece398dde11691a1f466"] = min_dim


def min_other(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["24bd4301f4f6fe95f103682f"] = min_other


def argmax(input, dim=None, keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), None)


FORMS["4634768b0cfca6cde50a44dd"] = argmax


def argmin(input, dim=None, keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), None)


FORMS["7787bdfdef6ea63c59a68bc3"] = argmin


def all(input, dim=None, keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_static(dim), keepdim, ), out, None)
    return _call(_spec, (input, ), (_static(dim), keepdim, ), None)


FORMS["ae96d8dfe58333fc2efc0d45"] = all


def any(input, dim=None, keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_static(dim), keepdim, ), out, None)
    return _call(_spec, (input, ), (_static(dim), keepdim, ), None)


FORMS["c3fcd9729da8df9ecbf67b46"] = any


def norm(input, p='fro', dim=None, keepdim=False, *, dtype=None, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_static(p), _static(dim), keepdim, None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (input, ), (_static(p), _static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["cea979d20b9a7f828a18c5ca"] = norm


def dist(input, other, p=2, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (_number(p, 'p'), ), out, None)
    return _call(_spec, (input, other, ), (_number(p, 'p'), ), None)


FORMS["f16e356c2a6fa7e2911df63c"] = dist


def renorm(input, p, dim=_required, maxnorm=_required, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("renorm() missing 1 required positional argument: 'dim'")
    if maxnorm is _required:
        raise TypeError("renorm() missing 1 required positional argument: 'maxnorm'")
    if out is not None:
        return _call_out(_spec, (input, ), (_number(p, 'p'), _number(dim, 'dim'), _number(maxnorm, 'maxnorm'), ), out, None)
    return _call(_spec, (input, ), (_number(p, 'p'), _number(dim, 'dim'), _number(maxnorm, 'maxnorm'), ), None)


FORMS["fb5d0951427be3bb35371f51"] = renorm


def renorm_(input, p, dim=_required, maxnorm=_required, *, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("renorm() missing 1 required positional argument: 'dim'")
    if maxnorm is _required:
        raise TypeError("renorm() missing 1 required positional argument: 'maxnorm'")
    return _call_inplace(_spec, (input, ), (_number(p, 'p'), _number(dim, 'dim'), _number(maxnorm, 'maxnorm'), ), None)


FORMS["be0a5780bcc7c76f8ba29022"] = renorm_


def cumsum(input, dim=_required, *, dtype=None, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("cumsum() missing 1 required positional argument: 'dim'")
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["3f61c5c03d8e1b2591be22f0"] = cumsum


def cumsum_(input, dim=_required, *, dtype=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("cumsum() missing 1 required positional argument: 'dim'")
    return _call_inplace(_spec, (input, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["0076b41a8384ec31b812a1bb"] = cumsum_


def cumprod(input, dim=_required, *, dtype=None, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("cumprod() missing 1 required positional argument: 'dim'")
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["8b85b52b7f08dc9493d1d379"] = cumprod


def cumprod_(input, dim=_required, *, dtype=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("cumprod() missing 1 required positional argument: 'dim'")
    return _call_inplace(_spec, (input, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["bd61c88369a765913ba1b909"] = cumprod_


def logcumsumexp(input, dim=_required, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("logcumsumexp() missing 1 required positional argument: 'dim'")
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), ), None)


FORMS["4892ec9847273dfdc2e03bd8"] = logcumsumexp


def cummax(input, dim=_required, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("cummax() missing 1 required positional argument: 'dim'")
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), ), None)


FORMS["3e844d9010eea7b8b62b5025"] = cummax


def cummin(input, dim=_required, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("cummin() missing 1 required positional argument: 'dim'")
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), ), None)


FORMS["2a6ae1edfb614af7e1aade90"] = cummin


def diff(input, n=1, dim=-1, prepend=None, append=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, prepend, append, ), (_number(n, 'n'), _number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, prepend, append, ), (_number(n, 'n'), _number(dim, 'dim'), ), None)


FORMS["fee9a29e90b11d6b462374e1"] = diff


def trapezoid(y, x=None, *, dx=1.0, dim=-1, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (y, x, ), (_number(dx, 'dx'), _number(dim, 'dim'), ), out, None)
    return _call(_spec, (y, x, ), (_number(dx, 'dx'), _number(dim, 'dim'), ), None)


FORMS["a93f85cdf8c2e45512246d3e"] = trapezoid


def cumulative_trapezoid(y, x=None, *, dx=1.0, dim=-1, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (y, x, ), (_number(dx, 'dx'), _number(dim, 'dim'), ), out, None)
    return _call(_spec, (y, x, ), (_number(dx, 'dx'), _number(dim, 'dim'), ), None)


FORMS["1dd33a20b53e7dd158ba2a09"] = cumulative_trapezoid


def relu(input):
    return _call(_spec, (input, ), (), None)


FORMS["08702f75a150729ea3c105ea"] = relu


def relu_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["0744fb94f18612759e60e5ab"] = relu_


def prelu(input, weight):
    return _call(_spec, (input, weight, ), (), None)


FORMS["74e032fbfc437726835f5583"] = prelu


def celu(input, alpha=1.0):
    return _call(_spec, (input, ), (_number(alpha, 'alpha'), ), None)


FORMS["d94f7c14751e1a38e9eec88b"] = celu


def celu_(input, alpha=1.0):
    return _call_inplace(_spec, (input, ), (_number(alpha, 'alpha'), ), None)


FORMS["6b278081fffa31cdb7c55178"] = celu_


def selu(input):
    return _call(_spec, (input, ), (), None)


FORMS["d23ca67fed1e586548031dde"] = selu


def selu_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["09ec32e404de55b4a5497eb4"] = selu_


def hardshrink(input, lambd=0.5, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(lambd, 'lambd'), ), out, None)
    return _call(_spec, (input, ), (_number(lambd, 'lambd'), ), None)


FORMS["1deb47a82edeba90c76414af"] = hardshrink


def threshold(input, threshold, value, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(threshold, 'threshold'), _number(value, 'value'), ), out, None)
    return _call(_spec, (input, ), (_number(threshold, 'threshold'), _number(value, 'value'), ), None)


FORMS["b637aada4ce8471b0fb2ef9c"] = threshold


def threshold_(input, threshold, value):
    return _call_inplace(_spec, (input, ), (_number(threshold, 'threshold'), _number(value, 'value'), ), None)


FORMS["126ff121030c26664b6e2082"] = threshold_


def rrelu(input, lower=0.125, upper=0.3333333333333333, training=False, *, generator=None, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(lower, 'lower'), _number(upper, 'upper'), training, None, ), out, generator)
    return _call(_spec, (input, ), (_number(lower, 'lower'), _number(upper, 'upper'), training, None, ), generator)


FORMS["f579aa7744bc20213ffaf989"] = rrelu


def rrelu_(input, lower=0.125, upper=0.3333333333333333, training=False, *, generator=None):
    return _call_inplace(_spec, (input, ), (_number(lower, 'lower'), _number(upper, 'upper'), training, None, ), generator)


FORMS["34a0870f3d26d8df1057e1d9"] = rrelu_


def softmax(input, dim=None, dtype=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["f06912b3399b6104a6b6a2dc"] = softmax


def log_softmax(input, dim=None, dtype=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["e7aef66d1a7d9a98ff9a88be"] = log_softmax


def dropout(input, p=0.5, training=True, *, out=None, train=_same_training):
    if train is not _same_training:
        training = train
    if out is not None:
        return _call_out(_spec, (input, ), (_number(p, 'p'), training, ), out, None)
    return _call(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["b33ab2c0d9ee168f313cddc2"] = dropout


def dropout_(input, p=0.5, training=True, *, train=_same_training):
    if train is not _same_training:
        training = train
    return _call_inplace(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["d0310c205b64d2a9725a767c"] = dropout_


def alpha_dropout(input, p=0.5, training=False, *, out=None, train=_same_training):
    if train is not _same_training:
        training = train
    if out is not None:
        return _call_out(_spec, (input, ), (_number(p, 'p'), training, ), out, None)
    return _call(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["4987974ef0282ea8bd4b724f"] = alpha_dropout


def alpha_dropout_(input, p=0.5, training=False, *, train=_same_training):
    if train is not _same_training:
        training = train
    return _call_inplace(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["0903860897d7c612b01ff2e1"] = alpha_dropout_


def feature_alpha_dropout(input, p=0.5, training=False, *, out=None, train=_same_training):
    if train is not _same_training:
        training = train
    if out is not None:
        return _call_out(_spec, (input, ), (_number(p, 'p'), training, ), out, None)
    return _call(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["187aca6381f8d92426b7bc10"] = feature_alpha_dropout


def feature_alpha_dropout_(input, p=0.5, training=False, *, train=_same_training):
    if train is not _same_training:
        training = train
    return _call_inplace(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["912d476b55a65d997b4a9c61"] = feature_alpha_dropout_


def feature_dropout(input, p=0.5, training=True, *, out=None, train=_same_training):
    if train is not _same_training:
        training = train
    if out is not None:
        return _call_out(_spec, (input, ), (_number(p, 'p'), training, ), out, None)
    return _call(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["1425629b8dedf46536acf78c"] = feature_dropout


def feature_dropout_(input, p=0.5, training=True, *, train=_same_training):
    if train is not _same_training:
        training = train
    return _call_inplace(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["ba8657ebb717a102657bc65c"] = feature_dropout_


def native_dropout(input, p, train, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(p, 'p'), train, ), out, None)
    return _call(_spec, (input, ), (_number(p, 'p'), train, ), None)


FORMS["b315abe38a0da49793dca297"] = native_dropout


def complex(real, imag, *, out=None):
    if out is not None:
        return _call_out(_spec, (real, imag, ), (), out, None)
    return _call(_spec, (real, imag, ), (), None)


FORMS["7a7bd11d54a36672ba571bdc"] = complex


def polar(abs, angle, *, out=None):
    if out is not None:
        return _call_out(_spec, (abs, angle, ), (), out, None)
    return _call(_spec, (abs, angle, ), (), None)


FORMS["3d5f8a9739ccfe92018ede73"] = polar


def isreal(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["4eba79d26881ece4a71be032"] = isreal


def matmul(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["4f64e0ef84cdea2624c877c4"] = matmul


def mm(input, mat2, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, mat2, ), (), out, None)
    return _call(_spec, (input, mat2, ), (), None)


FORMS["43462ac16cdf9fb09edba021"] = mm


def bmm(input, mat2, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, mat2, ), (), out, None)
    return _call(_spec, (input, mat2, ), (), None)


FORMS["32547f4b81ef877477dbb422"] = bmm


def mv(input, vec, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, vec, ), (), out, None)
    return _call(_spec, (input, vec, ), (), None)


FORMS["3482b0d89c3ff2997d68789c"] = mv


def dot(input, tensor, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, tensor, ), (), out, None)
    return _call(_spec, (input, tensor, ), (), None)


FORMS["4fd7afcfe83da72ffdd709be"] = dot


def vdot(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["948bf93dba562da396e89549"] = vdot


def inner(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["2e8eacaab1c6c56614a3ce71"] = inner


def outer(input, vec2, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, vec2, ), (), out, None)
    return _call(_spec, (input, vec2, ), (), None)


FORMS["17261db6fba5723d883e7322"] = outer


def kron(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["8ff935901bad32d3073d4def"] = kron


def addmm(input, mat1, mat2, *, beta=1, alpha=1, out=None):
    if out is not None:
        return _call_out(_spec, (input, mat1, mat2, beta, alpha, ), (), out, None)
    return _call(_spec, (input, mat1, mat2, beta, alpha, ), (), None)


FORMS["100454f380553a0b9a1bc7d5"] = addmm


def addmm_(input, mat1, mat2, *, beta=1, alpha=1):
    return _call_inplace(_spec, (input, mat1, mat2, beta, alpha, ), (), None)


FORMS["88a78cb5e31fcbfdaa35126a"] = addmm_


def addmv(input, mat, vec, *, beta=1, alpha=1, out=None):
    if out is not None:
        return _call_out(_spec, (input, mat, vec, beta, alpha, ), (), out, None)
    return _call(_spec, (input, mat, vec, beta, alpha, ), (), None)


FORMS["5d3a40fb44a9ee1bfeb744cd"] = addmv


def addmv_(input, mat, vec, *, beta=1, alpha=1):
    return _call_inplace(_spec, (input, mat, vec, beta, alpha, ), (), None)


FORMS["9b65ce05578316e7e8e640c8"] = addmv_


def addr(input, vec1, vec2, *, beta=1, alpha=1, out=None):
    if out is not None:
        return _call_out(_spec, (input, vec1, vec2, beta, alpha, ), (), out, None)
    return _call(_spec, (input, vec1, vec2, beta, alpha, ), (), None)


FORMS["06e0166b2804f743e13ed735"] = addr


def addr_(input, vec1, vec2, *, beta=1, alpha=1):
    return _call_inplace(_spec, (input, vec1, vec2, beta, alpha, ), (), None)


FORMS["a2e50cb70caf401239f37c4f"] = addr_


def baddbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None):
    if out is not None:
        return _call_out(_spec, (input, batch1, batch2, beta, alpha, ), (), out, None)
    return _call(_spec, (input, batch1, batch2, beta, alpha, ), (), None)


FORMS["bd7eb82f9301fedd39f1ec71"] = baddbmm


def baddbmm_(input, batch1, batch2, *, beta=1, alpha=1):
    return _call_inplace(_spec, (input, batch1, batch2, beta, alpha, ), (), None)


FORMS["72ee8012e5a5866d12dc96c6"] = baddbmm_


def addbmm(input, batch1, batch2, *, beta=1, alpha=1, out=None):
    if out is not None:
        return _call_out(_spec, (input, batch1, batch2, beta, alpha, ), (), out, None)
    return _call(_spec, (input, batch1, batch2, beta, alpha, ), (), None)


FORMS["357ae84fd0d399ebf9fff764"] = addbmm


def addbmm_(input, batch1, batch2, *, beta=1, alpha=1):
    return _call_inplace(_spec, (input, batch1, batch2, beta, alpha, ), (), None)


FORMS["d55d99fd33a772009c0cb11f"] = addbmm_


def chain_matmul(matrices, *, out=None):
    if out is not None:
        return _call_out(_spec, (matrices, ), (), out, None)
    return _call(_spec, (matrices, ), (), None)


FORMS["5fb74814c36afa3719c097c9"] = chain_matmul


def einsum(equation, operands, *, out=None):
    if out is not None:
        return _call_out(_spec, (operands, ), (equation, ), out, None)
    return _call(_spec, (operands, ), (equation, ), None)


FORMS["e33e9c40a18ff93c9236396e"] = einsum


def tensordot(a, b, dims=2, *, out=None):
    if out is not None:
        return _call_out(_spec, (a, b, ), (_static(dims), ), out, None)
    return _call(_spec, (a, b, ), (_static(dims), ), None)


FORMS["98c98116aa55bc7f2ae752e2"] = tensordot


def cross(input, other, dim=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, other, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, other, ), (_number(dim, 'dim'), ), None)


FORMS["d928b18b954cebb13652b144"] = cross


def cdist(x1, x2, p=2.0, compute_mode=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (x1, x2, ), (_number(p, 'p'), _static(compute_mode), ), out, None)
    return _call(_spec, (x1, x2, ), (_number(p, 'p'), _static(compute_mode), ), None)


FORMS["b4c696669be310138437a616"] = cdist


def pdist(input, p=2, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(p, 'p'), ), out, None)
    return _call(_spec, (input, ), (_number(p, 'p'), ), None)


FORMS["b80ddb516c74ab589d062a96"] = pdist


def cov(input, *, correction=1, fweights=None, aweights=None, out=None):
    if out is not None:
        return _call_out(_spec, (input, fweights, aweights, ), (_number(correction, 'correction'), ), out, None)
    return _call(_spec, (input, fweights, aweights, ), (_number(correction, 'correction'), ), None)


FORMS["94e1b60f4d5ebe4f1bf4224d"] = cov


def corrcoef(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["3eaa65182352a835998a3447"] = corrcoef


def conv1d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(dilation), _number(groups, 'groups'), ), out, None)
    return _call(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(dilation), _number(groups, 'groups'), ), None)


FORMS["2741a72f78e25b46070a010e"] = conv1d


def conv_transpose1d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(output_padding), _number(groups, 'groups'), _static(dilation), ), out, None)
    return _call(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(output_padding), _number(groups, 'groups'), _static(dilation), ), None)


FORMS["44c4fc6ec0c8882db0d5b9b6"] = conv_transpose1d


def conv2d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(dilation), _number(groups, 'groups'), ), out, None)
    return _call(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(dilation), _number(groups, 'groups'), ), None)


FORMS["69668583541ddffd86eb26d4"] = conv2d


def conv_transpose2d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(output_padding), _number(groups, 'groups'), _static(dilation), ), out, None)
    return _call(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(output_padding), _number(groups, 'groups'), _static(dilation), ), None)


FORMS["16532d913eea9b88489616db"] = conv_transpose2d


def conv3d(input, weight, bias=None, stride=1, padding=0, dilation=1, groups=1, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(dilation), _number(groups, 'groups'), ), out, None)
    return _call(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(dilation), _number(groups, 'groups'), ), None)


FORMS["03bdc2e1afc9987ad79b25b6"] = conv3d


def conv_transpose3d(input, weight, bias=None, stride=1, padding=0, output_padding=0, groups=1, dilation=1, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(output_padding), _number(groups, 'groups'), _static(dilation), ), out, None)
    return _call(_spec, (input, weight, bias, ), (_static(stride), _static(padding), _static(output_padding), _number(groups, 'groups'), _static(dilation), ), None)


FORMS["aabb19cd14c3725f9e90e503"] = conv_transpose3d


def cholesky(input, upper=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (upper, ), out, None)
    return _call(_spec, (input, ), (upper, ), None)


FORMS["c138a0f57795400a40626e46"] = cholesky


def lu(input, pivot=True, get_infos=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (pivot, get_infos, ), out, None)
    return _call(_spec, (input, ), (pivot, get_infos, ), None)


FORMS["f7e8105a5aa74ec8667d9e58"] = lu


def lu_unpack(LU_data, LU_pivots, unpack_data=True, unpack_pivots=True, *, out=None):
    if out is not None:
        return _call_out(_spec, (LU_data, LU_pivots, ), (unpack_data, unpack_pivots, ), out, None)
    return _call(_spec, (LU_data, LU_pivots, ), (unpack_data, unpack_pivots, ), None)


FORMS["46a10a24d913b91fe057a7ce"] = lu_unpack


def qr(input, some=True, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (some, ), out, None)
    return _call(_spec, (input, ), (some, ), None)


FORMS["7dc9228da6430291608edaf3"] = qr


def geqrf(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["eb1a4d76f6dbbf71702dcc2f"] = geqrf


def orgqr(input, input2, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, input2, ), (), out, None)
    return _call(_spec, (input, input2, ), (), None)


FORMS["713f5f4b1e9941425861f7da"] = orgqr


def ormqr(input, input2, input3, left=True, transpose=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, input2, input3, ), (left, transpose, ), out, None)
    return _call(_spec, (input, input2, input3, ), (left, transpose, ), None)


FORMS["ee83639c5898cf3dab3780ec"] = ormqr


def lobpcg(A, k=None, B=None, X=None, n=None, iK=None, niter=None, tol=None, largest=None, method=None, tracker=None, ortho_iparams=None, ortho_fparams=None, ortho_bparams=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (A, B, X, iK, ), (_number(k, 'k'), _number(n, 'n'), _number(niter, 'niter'), _number(tol, 'tol'), largest, method, _static(tracker), _static(ortho_iparams), _static(ortho_fparams), _static(ortho_bparams), ), out, None)
    return _call(_spec, (A, B, X, iK, ), (_number(k, 'k'), _number(n, 'n'), _number(niter, 'niter'), _number(tol, 'tol'), largest, method, _static(tracker), _static(ortho_iparams), _static(ortho_fparams), _static(ortho_bparams), ), None)


FORMS["15c9f2647c621b310dadda2a"] = lobpcg


def svd(input, some=True, compute_uv=True, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (some, compute_uv, ), out, None)
    return _call(_spec, (input, ), (some, compute_uv, ), None)


FORMS["6727d3f9f4891e2ca43a35bc"] = svd


def svd_lowrank(A, q=6, niter=2, M=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (A, M, ), (_number(q, 'q'), _number(niter, 'niter'), ), out, None)
    return _call(_spec, (A, M, ), (_number(q, 'q'), _number(niter, 'niter'), ), None)


FORMS["76bad3904b546cf30194c716"] = svd_lowrank


def pca_lowrank(A, q=None, center=True, niter=2, *, out=None):
    if out is not None:
        return _call_out(_spec, (A, ), (_number(q, 'q'), center, _number(niter, 'niter'), ), out, None)
    return _call(_spec, (A, ), (_number(q, 'q'), center, _number(niter, 'niter'), ), None)


FORMS["148d643c4a16fb5a407ced44"] = pca_lowrank


def gradient(input, *, spacing=None, dim=None, edge_order=1, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_static(spacing), _static(dim), _number(edge_order, 'edge_order'), ), out, None)
    return _call(_spec, (input, ), (_static(spacing), _static(dim), _number(edge_order, 'edge_order'), ), None)


FORMS["1804c5af5d4e5e3ac070b839"] = gradient


def gradient_at(input, *, spacing, dim=None, edge_order=1, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, spacing, ), (_static(dim), _number(edge_order, 'edge_order'), ), out, None)
    return _call(_spec, (input, spacing, ), (_static(dim), _number(edge_order, 'edge_order'), ), None)


FORMS["b96d37c84151ceb5aba76109"] = gradient_at


def zeros(*sizes, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    size = _varargs(sizes) if size is None else size
    if out is not None:
        return _call_out(_spec, (), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["6d57eb0b14af568c6fbaf11f"] = zeros


def ones(*sizes, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    size = _varargs(sizes) if size is None else size
    if out is not None:
        return _call_out(_spec, (), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["005b4ac6346cca1c1fa568f5"] = ones


def empty(*sizes, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, memory_format=None, out=None):
    size = _varargs(sizes) if size is None else size
    if out is not None:
        return _call_out(_spec, (), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad, memory_format)


FORMS["11b8fad3152156206ff5c639"] = empty


def full(size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (fill_value, ), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (fill_value, ), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["a3b6bdb200e4022455b1f767"] = full


def zeros_like(input, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, memory_format=None):
    return _finish(_make(_spec, (input, ), (None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad, memory_format)


FORMS["24edabd970db4332a54cfc48"] = zeros_like


def ones_like(input, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, memory_format=None):
    return _finish(_make(_spec, (input, ), (None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad, memory_format)


FORMS["06973d61a2f98ccbed08d409"] = ones_like


def empty_like(input, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, memory_format=None):
    return _finish(_make(_spec, (input, ), (None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad, memory_format)


FORMS["eea8a09c0ba176e4dbb772c5"] = empty_like


def full_like(input, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, memory_format=None):
    return _finish(_make(_spec, (input, fill_value, ), (None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad, memory_format)


FORMS["5299d9aa7c001566bda447e1"] = full_like


def scalar_tensor(s, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (s, ), (None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (s, ), (None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["394f6681abacdf8addf390e4"] = scalar_tensor


def empty_permuted(size, physical_layout, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(size, 'size'), _number(physical_layout, 'physical_layout'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(size, 'size'), _number(physical_layout, 'physical_layout'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["7280386826967afebdf8dc37"] = empty_permuted


def arange(start=0, end=None, step=1, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_static(start), _static(end), _static(step), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_static(start), _static(end), _static(step), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["2f7289e322d126835f7c6901"] = arange


def linspace(start, end, steps, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_static(start), _static(end), _number(steps, 'steps'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_static(start), _static(end), _number(steps, 'steps'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["8043c15f1df6b9f6fd717d85"] = linspace


def linspace_between(start, end, steps, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (start, end, ), (_number(steps, 'steps'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (start, end, ), (_number(steps, 'steps'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["9595d565027cbb708cd2bb59"] = linspace_between


def logspace(start, end, steps, base=10.0, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_static(start), _static(end), _number(steps, 'steps'), _number(base, 'base'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_static(start), _static(end), _number(steps, 'steps'), _number(base, 'base'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["be519fbe4453ba15d7000f7c"] = logspace


def logspace_between(start, end, steps, base=10.0, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (start, end, ), (_number(steps, 'steps'), _number(base, 'base'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (start, end, ), (_number(steps, 'steps'), _number(base, 'base'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["40b83157bdc79a181348337b"] = logspace_between


def eye(n, m=None, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(n, 'n'), _number(m, 'm'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(n, 'n'), _number(m, 'm'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["0f1a52737002af4009f1f5c3"] = eye


def tril_indices(row, col, offset=0, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(row, 'row'), _number(col, 'col'), _number(offset, 'offset'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(row, 'row'), _number(col, 'col'), _number(offset, 'offset'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["198e7e4579a99a2dc5c9b11b"] = tril_indices


def triu_indices(row, col, offset=0, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(row, 'row'), _number(col, 'col'), _number(offset, 'offset'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(row, 'row'), _number(col, 'col'), _number(offset, 'offset'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["50186e99114c58cc68990fc4"] = triu_indices


def stft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, pad_mode='reflect', normalized=False, onesided=None, return_complex=None, align_to_window=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, window, ), (_number(n_fft, 'n_fft'), _number(hop_length, 'hop_length'), _number(win_length, 'win_length'), center, pad_mode, normalized, onesided, return_complex, align_to_window, ), out, None)
    return _call(_spec, (input, window, ), (_number(n_fft, 'n_fft'), _number(hop_length, 'hop_length'), _number(win_length, 'win_length'), center, pad_mode, normalized, onesided, return_complex, align_to_window, ), None)


FORMS["3ba1f2bfbceebb358beac00f"] = stft


def istft(input, n_fft, hop_length=None, win_length=None, window=None, center=True, normalized=False, onesided=None, length=None, return_complex=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, window, ), (_number(n_fft, 'n_fft'), _number(hop_length, 'hop_length'), _number(win_length, 'win_length'), center, normalized, onesided, _number(length, 'length'), return_complex, ), out, None)
    return _call(_spec, (input, window, ), (_number(n_fft, 'n_fft'), _number(hop_length, 'hop_length'), _number(win_length, 'win_length'), center, normalized, onesided, _number(length, 'length'), return_complex, ), None)


FORMS["a62dec3a8c232cb566a00a50"] = istft


def histc(input, bins=100, min=0, max=0, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(bins, 'bins'), _static(min), _static(max), ), out, None)
    return _call(_spec, (input, ), (_number(bins, 'bins'), _static(min), _static(max), ), None)


FORMS["0ee42ec6fc14908a334b2195"] = histc


def histogram(input, bins, *, weight=None, density=False, out=None):
    if out is not None:
        return _call_out(_spec, (input, bins, weight, ), (density, ), out, None)
    return _call(_spec, (input, bins, weight, ), (density, ), None)


FORMS["6e5f410e5e37c8114c8d6d26"] = histogram


def histogram_uniform(input, bins=100, *, range=None, weight=None, density=False, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, ), (_number(bins, 'bins'), _static(range), density, ), out, None)
    return _call(_spec, (input, weight, ), (_number(bins, 'bins'), _static(range), density, ), None)


FORMS["d447c29093ec8011f34831df"] = histogram_uniform


def histogramdd(input, bins, *, weight=None, density=False, out=None):
    if out is not None:
        return _call_out(_spec, (input, bins, weight, ), (density, ), out, None)
    return _call(_spec, (input, bins, weight, ), (density, ), None)


FORMS["cf9d50bdec6e22415d76b75b"] = histogramdd


def histogramdd_uniform(input, bins, *, range=None, weight=None, density=False, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, ), (_static(bins), _static(range), density, ), out, None)
    return _call(_spec, (input, weight, ), (_static(bins), _static(range), density, ), None)


FORMS["237665e8112e5b8afc82a1a0"] = histogramdd_uniform


def gather(input, dim=_required, index=_required, *, sparse_grad=False, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("gather() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("gather() missing 1 required positional argument: 'index'")
    if out is not None:
        return _call_out(_spec, (input, index, ), (_number(dim, 'dim'), sparse_grad, ), out, None)
    return _call(_spec, (input, index, ), (_number(dim, 'dim'), sparse_grad, ), None)


FORMS["1277daa94daaedf4e417ccab"] = gather


def take_along_dim(input, indices, dim=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, indices, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, indices, ), (_number(dim, 'dim'), ), None)


FORMS["7598ae79efd2bf8d35a05c60"] = take_along_dim


def take(input, index, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, index, ), (), out, None)
    return _call(_spec, (input, index, ), (), None)


FORMS["d870c6b7629c25ba05b31ef1"] = take


def index_select(input, dim=_required, index=_required, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("index_select() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("index_select() missing 1 required positional argument: 'index'")
    if out is not None:
        return _call_out(_spec, (input, index, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, index, ), (_number(dim, 'dim'), ), None)


FORMS["7b4cd3ee2b23155b94b0e7e5"] = index_select


def nonzero_static(input, *, size, fill_value=-1, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(size, 'size'), _number(fill_value, 'fill_value'), ), out, None)
    return _call(_spec, (input, ), (_number(size, 'size'), _number(fill_value, 'fill_value'), ), None)


FORMS["94a7d812900bcbc9bafde0b4"] = nonzero_static


def unravel_index(indices, shape, *, out=None):
    if out is not None:
        return _call_out(_spec, (indices, ), (_static(shape), ), out, None)
    return _call(_spec, (indices, ), (_static(shape), ), None)


FORMS["87246db5ee1c22cdd407a85c"] = unravel_index


def scatter(input, dim=_required, index=_required, src=_required, *, reduce=None, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'index'")
    if src is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'src'")
    if out is not None:
        return _call_out(_spec, (input, index, src, ), (_number(dim, 'dim'), reduce, ), out, None)
    return _call(_spec, (input, index, src, ), (_number(dim, 'dim'), reduce, ), None)


FORMS["b3e065745709a0e2d37d8082"] = scatter


def scatter_value(input, dim=_required, index=_required, value=_required, *, reduce=None, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'index'")
    if value is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'value'")
    if out is not None:
        return _call_out(_spec, (input, index, value, ), (_number(dim, 'dim'), reduce, ), out, None)
    return _call(_spec, (input, index, value, ), (_number(dim, 'dim'), reduce, ), None)


FORMS["a5fbb43e60a33f0231414242"] = scatter_value


def scatter_(input, dim=_required, index=_required, src=_required, *, reduce=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'index'")
    if src is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'src'")
    return _call_inplace(_spec, (input, index, src, ), (_number(dim, 'dim'), reduce, ), None)


FORMS["f20708dc191d6a0ac779d5bb"] = scatter_


def scatter_value_(input, dim=_required, index=_required, value=_required, *, reduce=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'index'")
    if value is _required:
        raise TypeError("scatter() missing 1 required positional argument: 'value'")
    return _call_inplace(_spec, (input, index, value, ), (_number(dim, 'dim'), reduce, ), None)


FORMS["5508b23e8d83300ea3c5aad2"] = scatter_value_


def scatter_add(input, dim=_required, index=_required, src=_required, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("scatter_add() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("scatter_add() missing 1 required positional argument: 'index'")
    if src is _required:
        raise TypeError("scatter_add() missing 1 required positional argument: 'src'")
    if out is not None:
        return _call_out(_spec, (input, index, src, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, index, src, ), (_number(dim, 'dim'), ), None)


FORMS["ff72a717c006e33e0a4a1e6b"] = scatter_add


def scatter_add_(input, dim=_required, index=_required, src=_required, *, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("scatter_add() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("scatter_add() missing 1 required positional argument: 'index'")
    if src is _required:
        raise TypeError("scatter_add() missing 1 required positional argument: 'src'")
    return _call_inplace(_spec, (input, index, src, ), (_number(dim, 'dim'), ), None)


FORMS["f06c2f521546ffe4b70857e2"] = scatter_add_


def scatter_reduce(input, dim=_required, index=_required, src=_required, reduce=_required, *, include_self=True, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("scatter_reduce() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("scatter_reduce() missing 1 required positional argument: 'index'")
    if src is _required:
        raise TypeError("scatter_reduce() missing 1 required positional argument: 'src'")
    if reduce is _required:
        raise TypeError("scatter_reduce() missing 1 required positional argument: 'reduce'")
    if out is not None:
        return _call_out(_spec, (input, index, src, ), (_number(dim, 'dim'), reduce, include_self, ), out, None)
    return _call(_spec, (input, index, src, ), (_number(dim, 'dim'), reduce, include_self, ), None)


FORMS["ca4e7caeb993ee8f46662a3b"] = scatter_reduce


def scatter_reduce_(input, dim=_required, index=_required, src=_required, reduce=_required, *, include_self=True, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("scatter_reduce() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("scatter_reduce() missing 1 required positional argument: 'index'")
    if src is _required:
        raise TypeError("scatter_reduce() missing 1 required positional argument: 'src'")
    if reduce is _required:
        raise TypeError("scatter_reduce() missing 1 required positional argument: 'reduce'")
    return _call_inplace(_spec, (input, index, src, ), (_number(dim, 'dim'), reduce, include_self, ), None)


FORMS["321cf449be1d3664b00b8cd8"] = scatter_reduce_


def index_add(input, dim=_required, index=_required, source=_required, *, alpha=1, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("index_add() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("index_add() missing 1 required positional argument: 'index'")
    if source is _required:
        raise TypeError("index_add() missing 1 required positional argument: 'source'")
    if out is not None:
        return _call_out(_spec, (input, index, source, alpha, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, index, source, alpha, ), (_number(dim, 'dim'), ), None)


FORMS["544d942023bae1fc009aa0c5"] = index_add


def index_add_(input, dim=_required, index=_required, source=_required, *, alpha=1, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("index_add() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("index_add() missing 1 required positional argument: 'index'")
    if source is _required:
        raise TypeError("index_add() missing 1 required positional argument: 'source'")
    return _call_inplace(_spec, (input, index, source, alpha, ), (_number(dim, 'dim'), ), None)


FORMS["f315f812d760a4c52257b9fe"] = index_add_


def index_copy(input, dim=_required, index=_required, source=_required, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("index_copy() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("index_copy() missing 1 required positional argument: 'index'")
    if source is _required:
        raise TypeError("index_copy() missing 1 required positional argument: 'source'")
    if out is not None:
        return _call_out(_spec, (input, index, source, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, index, source, ), (_number(dim, 'dim'), ), None)


FORMS["2cbc36361785d02b57e5f1d2"] = index_copy


def index_copy_(input, dim=_required, index=_required, source=_required, *, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("index_copy() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("index_copy() missing 1 required positional argument: 'index'")
    if source is _required:
        raise TypeError("index_copy() missing 1 required positional argument: 'source'")
    return _call_inplace(_spec, (input, index, source, ), (_number(dim, 'dim'), ), None)


FORMS["fe0b91a87086646925892340"] = index_copy_


def index_fill(input, dim=_required, index=_required, value=_required, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("index_fill() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("index_fill() missing 1 required positional argument: 'index'")
    if value is _required:
        raise TypeError("index_fill() missing 1 required positional argument: 'value'")
    if out is not None:
        return _call_out(_spec, (input, index, value, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, index, value, ), (_number(dim, 'dim'), ), None)


FORMS["df41530ecaee33ddb069dabe"] = index_fill


def index_fill_(input, dim=_required, index=_required, value=_required, *, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("index_fill() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("index_fill() missing 1 required positional argument: 'index'")
    if value is _required:
        raise TypeError("index_fill() missing 1 required positional argument: 'value'")
    return _call_inplace(_spec, (input, index, value, ), (_number(dim, 'dim'), ), None)


FORMS["6262995a4858f37022fb3768"] = index_fill_


def index_reduce(input, dim=_required, index=_required, source=_required, reduce=_required, *, include_self=True, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("index_reduce() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("index_reduce() missing 1 required positional argument: 'index'")
    if source is _required:
        raise TypeError("index_reduce() missing 1 required positional argument: 'source'")
    if reduce is _required:
        raise TypeError("index_reduce() missing 1 required positional argument: 'reduce'")
    if out is not None:
        return _call_out(_spec, (input, index, source, ), (_number(dim, 'dim'), reduce, include_self, ), out, None)
    return _call(_spec, (input, index, source, ), (_number(dim, 'dim'), reduce, include_self, ), None)


FORMS["0d61d85eb5a1a30dab55f989"] = index_reduce


def index_reduce_(input, dim=_required, index=_required, source=_required, reduce=_required, *, include_self=True, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("index_reduce() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("index_reduce() missing 1 required positional argument: 'index'")
    if source is _required:
        raise TypeError("index_reduce() missing 1 required positional argument: 'source'")
    if reduce is _required:
        raise TypeError("index_reduce() missing 1 required positional argument: 'reduce'")
    return _call_inplace(_spec, (input, index, source, ), (_number(dim, 'dim'), reduce, include_self, ), None)


FORMS["e984779b688e1bef427d2e7b"] = index_reduce_


def index_put(input, indices, values, accumulate=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, indices, values, ), (accumulate, ), out, None)
    return _call(_spec, (input, indices, values, ), (accumulate, ), None)


FORMS["363cb1c62013b73e538d7fe4"] = index_put


def index_put_(input, indices, values, accumulate=False):
    return _call_inplace(_spec, (input, indices, values, ), (accumulate, ), None)


FORMS["a61beff083d6aa3a22d60ced"] = index_put_


def put(input, index, source, accumulate=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, index, source, ), (accumulate, ), out, None)
    return _call(_spec, (input, index, source, ), (accumulate, ), None)


FORMS["039dc3e4bd714c3e7d7269b5"] = put


def put_(input, index, source, accumulate=False):
    return _call_inplace(_spec, (input, index, source, ), (accumulate, ), None)


FORMS["d4b50d7de63ceed8275f0c2f"] = put_


def select_scatter(input, src, dim=_required, index=_required, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("select_scatter() missing 1 required positional argument: 'dim'")
    if index is _required:
        raise TypeError("select_scatter() missing 1 required positional argument: 'index'")
    if out is not None:
        return _call_out(_spec, (input, src, ), (_number(dim, 'dim'), _number(index, 'index'), ), out, None)
    return _call(_spec, (input, src, ), (_number(dim, 'dim'), _number(index, 'index'), ), None)


FORMS["c1373af4a54d825c0d1a7056"] = select_scatter


def slice_scatter(input, src, dim=0, start=None, end=None, step=1, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, src, ), (_number(dim, 'dim'), _number(start, 'start'), _number(end, 'end'), _number(step, 'step'), ), out, None)
    return _call(_spec, (input, src, ), (_number(dim, 'dim'), _number(start, 'start'), _number(end, 'end'), _number(step, 'step'), ), None)


FORMS["1d60707389b5a6f4d5d5e14d"] = slice_scatter


def diagonal_scatter(input, src, offset=0, dim1=0, dim2=1, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, src, ), (_number(offset, 'offset'), _number(dim1, 'dim1'), _number(dim2, 'dim2'), ), out, None)
    return _call(_spec, (input, src, ), (_number(offset, 'offset'), _number(dim1, 'dim1'), _number(dim2, 'dim2'), ), None)


FORMS["23b51346fef9a4666dfd29d5"] = diagonal_scatter


def fill(input, value, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, value, ), (), out, None)
    return _call(_spec, (input, value, ), (), None)


FORMS["7e0fdcbc89e1696e02899e4f"] = fill


def fill_(input, value):
    return _call_inplace(_spec, (input, value, ), (), None)


FORMS["90fc5541218e21ab7f082c07"] = fill_


def cat(tensors, dim=0, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (tensors, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (tensors, ), (_number(dim, 'dim'), ), None)


FORMS["0b9c3e58896aff0bd2a1518e"] = cat


def stack(tensors, dim=0, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (tensors, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (tensors, ), (_number(dim, 'dim'), ), None)


FORMS["0d2991211c8dcaf2abf21c06"] = stack


def hstack(tensors, *, out=None):
    if out is not None:
        return _call_out(_spec, (tensors, ), (), out, None)
    return _call(_spec, (tensors, ), (), None)


FORMS["2fa04800f4b60d067abfe970"] = hstack


def vstack(tensors, *, out=None):
    if out is not None:
        return _call_out(_spec, (tensors, ), (), out, None)
    return _call(_spec, (tensors, ), (), None)


FORMS["e948daaf0ac4d7c09c18b8fd"] = vstack


def dstack(tensors, *, out=None):
    if out is not None:
        return _call_out(_spec, (tensors, ), (), out, None)
    return _call(_spec, (tensors, ), (), None)


FORMS["8ef45218a5ef832d3a0ae10a"] = dstack


def column_stack(tensors, *, out=None):
    if out is not None:
        return _call_out(_spec, (tensors, ), (), out, None)
    return _call(_spec, (tensors, ), (), None)


FORMS["79a8ec366384744a4c4d0404"] = column_stack


def block_diag(tensors, *, out=None):
    if out is not None:
        return _call_out(_spec, (tensors, ), (), out, None)
    return _call(_spec, (tensors, ), (), None)


FORMS["a7cf84c17f79ca75a830ea9b"] = block_diag


def cartesian_prod(tensors, *, out=None):
    if out is not None:
        return _call_out(_spec, (tensors, ), (), out, None)
    return _call(_spec, (tensors, ), (), None)


FORMS["41be7ba4225b290c20634e6e"] = cartesian_prod


def combinations(input, r=2, with_replacement=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(r, 'r'), with_replacement, ), out, None)
    return _call(_spec, (input, ), (_number(r, 'r'), with_replacement, ), None)


FORMS["037adfd6ec24cef925d8d2e2"] = combinations


def repeat(input, repeats, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(repeats, 'repeats'), ), out, None)
    return _call(_spec, (input, ), (_number(repeats, 'repeats'), ), None)


FORMS["a986481f5ee9ce68ff0f6d42"] = repeat


def tile(input, dims, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dims, 'dims'), ), out, None)
    return _call(_spec, (input, ), (_number(dims, 'dims'), ), None)


FORMS["0e84f88d262935896ef2139b"] = tile


def roll(input, shifts, dims=(), *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(shifts, 'shifts'), _number(dims, 'dims'), ), out, None)
    return _call(_spec, (input, ), (_number(shifts, 'shifts'), _number(dims, 'dims'), ), None)


FORMS["1b680d456832956abf6f09f9"] = roll


def flip(input, dims, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dims, 'dims'), ), out, None)
    return _call(_spec, (input, ), (_number(dims, 'dims'), ), None)


FORMS["6278eadf3f5002a9da6fd026"] = flip


def fliplr(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["5ce17ddd05e67545e8828ee5"] = fliplr


def flipud(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["2ecc5d33a12b2806b6ae5572"] = flipud


def rot90(input, k=1, dims=(0, 1), *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(k, 'k'), _number(dims, 'dims'), ), out, None)
    return _call(_spec, (input, ), (_number(k, 'k'), _number(dims, 'dims'), ), None)


FORMS["d37411048c3914c54a302fd2"] = rot90


def tril(input, diagonal=0, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(diagonal, 'diagonal'), ), out, None)
    return _call(_spec, (input, ), (_number(diagonal, 'diagonal'), ), None)


FORMS["47443bc4385374a50fc322b7"] = tril


def tril_(input, diagonal=0):
    return _call_inplace(_spec, (input, ), (_number(diagonal, 'diagonal'), ), None)


FORMS["315abbaf5e6bab596cc46f65"] = tril_


def triu(input, diagonal=0, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(diagonal, 'diagonal'), ), out, None)
    return _call(_spec, (input, ), (_number(diagonal, 'diagonal'), ), None)


FORMS["40259698ad2964cd215d7d19"] = triu


def triu_(input, diagonal=0):
    return _call_inplace(_spec, (input, ), (_number(diagonal, 'diagonal'), ), None)


FORMS["87e0cdc5eb37665d466f4108"] = triu_


def diag(input, diagonal=0, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(diagonal, 'diagonal'), ), out, None)
    return _call(_spec, (input, ), (_number(diagonal, 'diagonal'), ), None)


FORMS["573560f93f9fa620d15462cd"] = diag


def diag_embed(input, offset=0, dim1=-2, dim2=-1, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(offset, 'offset'), _number(dim1, 'dim1'), _number(dim2, 'dim2'), ), out, None)
    return _call(_spec, (input, ), (_number(offset, 'offset'), _number(dim1, 'dim1'), _number(dim2, 'dim2'), ), None)


FORMS["ef209793080219f5b34c8144"] = diag_embed


def diagflat(input, offset=0, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(offset, 'offset'), ), out, None)
    return _call(_spec, (input, ), (_number(offset, 'offset'), ), None)


FORMS["19730f8eca6933dfdfbe4cfe"] = diagflat


def vander(x, N=None, increasing=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, ), (_number(N, 'N'), increasing, ), out, None)
    return _call(_spec, (x, ), (_number(N, 'N'), increasing, ), None)


FORMS["5f2da0f3877d59aadc115390"] = vander


def max_pool1d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), _static(dilation), ceil_mode, ), out, None)
    return _call(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), _static(dilation), ceil_mode, ), None)


FORMS["5419cfe49656e44cc7d54875"] = max_pool1d


def max_pool2d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), _static(dilation), ceil_mode, ), out, None)
    return _call(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), _static(dilation), ceil_mode, ), None)


FORMS["bba552a1c24ca08e2492703d"] = max_pool2d


def max_pool3d(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), _static(dilation), ceil_mode, ), out, None)
    return _call(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), _static(dilation), ceil_mode, ), None)


FORMS["f4c228206e37541c47e15f75"] = max_pool3d


def layer_norm(input, normalized_shape, weight=None, bias=None, eps=1e-05, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, ), (_number(normalized_shape, 'normalized_shape'), _number(eps, 'eps'), ), out, None)
    return _call(_spec, (input, weight, bias, ), (_number(normalized_shape, 'normalized_shape'), _number(eps, 'eps'), ), None)


FORMS["bf31e3a117526e2de9fcf2d4"] = layer_norm


def rms_norm(input, normalized_shape, weight=None, eps=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, ), (_number(normalized_shape, 'normalized_shape'), _number(eps, 'eps'), ), out, None)
    return _call(_spec, (input, weight, ), (_number(normalized_shape, 'normalized_shape'), _number(eps, 'eps'), ), None)


FORMS["4d2bde9c3b888fdd005b34ea"] = rms_norm


def group_norm(input, num_groups, weight=None, bias=None, eps=1e-05, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, ), (_number(num_groups, 'num_groups'), _number(eps, 'eps'), ), out, None)
    return _call(_spec, (input, weight, bias, ), (_number(num_groups, 'num_groups'), _number(eps, 'eps'), ), None)


FORMS["d57b1eba517693a4cee18c09"] = group_norm


def cosine_similarity(x1, x2, dim=1, eps=1e-08, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (x1, x2, ), (_number(dim, 'dim'), _number(eps, 'eps'), ), out, None)
    return _call(_spec, (x1, x2, ), (_number(dim, 'dim'), _number(eps, 'eps'), ), None)


FORMS["676403eea1124531e57e45b5"] = cosine_similarity


def pairwise_distance(x1, x2, p=2.0, eps=1e-06, keepdim=False, *, out=None, keepdims=_same_keepdim):
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (x1, x2, ), (_number(p, 'p'), _number(eps, 'eps'), keepdim, ), out, None)
    return _call(_spec, (x1, x2, ), (_number(p, 'p'), _number(eps, 'eps'), keepdim, ), None)


FORMS["cfcabd3238938e608aa24ee5"] = pairwise_distance


def native_layer_norm(input, normalized_shape, weight, bias, eps, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, ), (_number(normalized_shape, 'normalized_shape'), _number(eps, 'eps'), ), out, None)
    return _call(_spec, (input, weight, bias, ), (_number(normalized_shape, 'normalized_shape'), _number(eps, 'eps'), ), None)


FORMS["b04af33da0f1ec12e9ee6baf"] = native_layer_norm


def native_group_norm(input, weight, bias, N, C, HxW, group, eps, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, ), (_number(N, 'N'), _number(C, 'C'), _number(HxW, 'HxW'), _number(group, 'group'), _number(eps, 'eps'), ), out, None)
    return _call(_spec, (input, weight, bias, ), (_number(N, 'N'), _number(C, 'C'), _number(HxW, 'HxW'), _number(group, 'group'), _number(eps, 'eps'), ), None)


FORMS["262c080475c6fd9a9b71be4d"] = native_group_norm


def native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, running_mean, running_var, ), (training, _number(momentum, 'momentum'), _number(eps, 'eps'), ), out, None)
    return _call(_spec, (input, weight, bias, running_mean, running_var, ), (training, _number(momentum, 'momentum'), _number(eps, 'eps'), ), None)


FORMS["3dd8524334e09015eaa80ea3"] = native_batch_norm


def native_dropout_backward(grad_output, mask, scale, *, out=None):
    if out is not None:
        return _call_out(_spec, (grad_output, mask, ), (_number(scale, 'scale'), ), out, None)
    return _call(_spec, (grad_output, mask, ), (_number(scale, 'scale'), ), None)


FORMS["5ad48c6f0a28329937e5f2bc"] = native_dropout_backward


def max_pool2d_with_indices_backward(grad_output, input, kernel_size, stride, padding, dilation, ceil_mode, indices, *, out=None):
    if out is not None:
        return _call_out(_spec, (grad_output, input, indices, ), (_static(kernel_size), _static(stride), _static(padding), _static(dilation), ceil_mode, ), out, None)
    return _call(_spec, (grad_output, input, indices, ), (_static(kernel_size), _static(stride), _static(padding), _static(dilation), ceil_mode, ), None)


FORMS["6d34c8f82c93c17a061ef44f"] = max_pool2d_with_indices_backward


def constant_pad_nd(input, pad, value=0, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, value, ), (_number(pad, 'pad'), ), out, None)
    return _call(_spec, (input, value, ), (_number(pad, 'pad'), ), None)


FORMS["4f30c097d3dd57d3adba176f"] = constant_pad_nd


def grid_sampler(input, grid, interpolation_mode, padding_mode, align_corners, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, grid, ), (_number(interpolation_mode, 'interpolation_mode'), _number(padding_mode, 'padding_mode'), align_corners, ), out, None)
    return _call(_spec, (input, grid, ), (_number(interpolation_mode, 'interpolation_mode'), _number(padding_mode, 'padding_mode'), align_corners, ), None)


FORMS["55f6d15bff059d354594a43a"] = grid_sampler


def grid_sampler_2d(input, grid, interpolation_mode, padding_mode, align_corners, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, grid, ), (_number(interpolation_mode, 'interpolation_mode'), _number(padding_mode, 'padding_mode'), align_corners, ), out, None)
    return _call(_spec, (input, grid, ), (_number(interpolation_mode, 'interpolation_mode'), _number(padding_mode, 'padding_mode'), align_corners, ), None)


FORMS["f40d674121c8c39bc9324239"] = grid_sampler_2d


def grid_sampler_3d(input, grid, interpolation_mode, padding_mode, align_corners, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, grid, ), (_number(interpolation_mode, 'interpolation_mode'), _number(padding_mode, 'padding_mode'), align_corners, ), out, None)
    return _call(_spec, (input, grid, ), (_number(interpolation_mode, 'interpolation_mode'), _number(padding_mode, 'padding_mode'), align_corners, ), None)


FORMS["27b688572f3dea7a99fa81ba"] = grid_sampler_3d


def eq(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["59a8c631b476a07f95859913"] = eq


def eq_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["4af6a0816c5dd250898b448f"] = eq_


def ne(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["a717ab2c9c886d40fe743671"] = ne


def ne_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["6ed2c050a2e2c585eb87932f"] = ne_


def lt(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["665c10f3624c25ac7eb946ba"] = lt


def lt_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["4cee591f89a816b1c9507918"] = lt_


def le(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["02662e94b82fcb75ad60bf72"] = le


def le_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["2c7825badf7009eb46b178a0"] = le_


def gt(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["41e8746f853677edcc12be49"] = gt


def gt_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["2899f60779d0b7994b37a1a9"] = gt_


def ge(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["18e9c5bc8f0671f34e26b390"] = ge


def ge_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["ba4b359b0c21bbdf1bc81e94"] = ge_


def logical_and(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["af29492422eb90558412f38f"] = logical_and


def logical_and_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["deb122a6ef1cbfde762fbf70"] = logical_and_


def logical_or(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["e9503885e47b1466f5a4863a"] = logical_or


def logical_or_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["10ac56e5fd929bc369752d17"] = logical_or_


def logical_xor(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["b4dd75196715b803d01a9829"] = logical_xor


def logical_xor_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["703a3092fea24685544e0bc4"] = logical_xor_


def bitwise_left_shift(input=_required, other=_required, *, out=None, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("bitwise_left_shift() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("bitwise_left_shift() missing 1 required positional argument: 'other'")
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["6b7442c7a568ab2b9c054899"] = bitwise_left_shift


def bitwise_left_shift_(input=_required, other=_required, *, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("bitwise_left_shift() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("bitwise_left_shift() missing 1 required positional argument: 'other'")
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["de98b3cc3db2183fa27d26d4"] = bitwise_left_shift_


def bitwise_right_shift(input=_required, other=_required, *, out=None, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("bitwise_right_shift() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("bitwise_right_shift() missing 1 required positional argument: 'other'")
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["065b566f354f4949d5656dfa"] = bitwise_right_shift


def bitwise_right_shift_(input=_required, other=_required, *, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("bitwise_right_shift() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("bitwise_right_shift() missing 1 required positional argument: 'other'")
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["252d5dff50d7be22ac057aab"] = bitwise_right_shift_


def bitwise_and(input=_required, other=_required, *, out=None, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("bitwise_and() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("bitwise_and() missing 1 required positional argument: 'other'")
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["fa7889803e891031a0de312a"] = bitwise_and


def bitwise_and_(input=_required, other=_required, *, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("bitwise_and() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("bitwise_and() missing 1 required positional argument: 'other'")
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["91d98d5cdf3c49d54999df90"] = bitwise_and_


def bitwise_or(input=_required, other=_required, *, out=None, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("bitwise_or() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("bitwise_or() missing 1 required positional argument: 'other'")
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["595b32adda823c406b36bcbf"] = bitwise_or


def bitwise_or_(input=_required, other=_required, *, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("bitwise_or() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("bitwise_or() missing 1 required positional argument: 'other'")
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["11617303877b2ef0296f99c0"] = bitwise_or_


def bitwise_xor(input=_required, other=_required, *, out=None, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("bitwise_xor() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("bitwise_xor() missing 1 required positional argument: 'other'")
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["0b409fde0861eec3cf6ce011"] = bitwise_xor


def bitwise_xor_(input=_required, other=_required, *, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("bitwise_xor() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("bitwise_xor() missing 1 required positional argument: 'other'")
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["711ef97d8a3e3ecad939784f"] = bitwise_xor_


def logical_not(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["9b4614dd68a3caaf40fc1546"] = logical_not


def logical_not_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["8e1ad99b2b03ed7bd62caa0a"] = logical_not_


def bitwise_not(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["5c1820b3bcd482d4c3e7a638"] = bitwise_not


def bitwise_not_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["d2f406d1415a2bc583f257ce"] = bitwise_not_


def isnan(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["23687e4499f7685172514eda"] = isnan


def isinf(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["89bdd23113677061fa28ed35"] = isinf


def isfinite(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["f96407d201ffdb2808bbb7f1"] = isfinite


def isposinf(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["6a05f623c639e39d328be930"] = isposinf


def isneginf(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["c18e72cadb3681f36f1a1ff4"] = isneginf


def signbit(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["0370a054816470d549b41ce3"] = signbit


def isclose(input, other, rtol=1e-05, atol=1e-08, equal_nan=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (_number(rtol, 'rtol'), _number(atol, 'atol'), equal_nan, ), out, None)
    return _call(_spec, (input, other, ), (_number(rtol, 'rtol'), _number(atol, 'atol'), equal_nan, ), None)


FORMS["064358fac9da408f046c129f"] = isclose


def where(condition, input=_required, other=_required, *, out=None, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("where() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("where() missing 1 required positional argument: 'other'")
    if out is not None:
        return _call_out(_spec, (condition, input, other, ), (), out, None)
    return _call(_spec, (condition, input, other, ), (), None)


FORMS["0ed5ee1ee3934403e489dda8"] = where


def masked_fill(input, mask, value, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, mask, value, ), (), out, None)
    return _call(_spec, (input, mask, value, ), (), None)


FORMS["60ebc038dd0ebad4bf77f7f1"] = masked_fill


def masked_fill_(input, mask, value):
    return _call_inplace(_spec, (input, mask, value, ), (), None)


FORMS["668ca42afb240438d011bee3"] = masked_fill_


def masked_scatter(input, mask, source, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, mask, source, ), (), out, None)
    return _call(_spec, (input, mask, source, ), (), None)


FORMS["3eb5ceb4fbc4cecd95f17d9e"] = masked_scatter


def masked_scatter_(input, mask, source):
    return _call_inplace(_spec, (input, mask, source, ), (), None)


FORMS["40f3aebf559c15c38a63ca7e"] = masked_scatter_


def sort(input, dim=-1, descending=False, *, stable=False, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), descending, stable, ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), descending, stable, ), None)


FORMS["23ddb739fa735f5211332ded"] = sort


def argsort(input, dim=-1, descending=False, *, stable=False, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), descending, stable, ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), descending, stable, ), None)


FORMS["7879b8def888831eda6b2c34"] = argsort


def msort(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["696cccc3acfd22376eb73cf1"] = msort


def topk(input, k, dim=-1, largest=True, sorted=True, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(k, 'k'), _number(dim, 'dim'), largest, sorted, ), out, None)
    return _call(_spec, (input, ), (_number(k, 'k'), _number(dim, 'dim'), largest, sorted, ), None)


FORMS["17b2e2e893550a74974553e8"] = topk


def kthvalue(input, k, dim=-1, keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(k, 'k'), _number(dim, 'dim'), keepdim, ), out, None)
    return _call(_spec, (input, ), (_number(k, 'k'), _number(dim, 'dim'), keepdim, ), None)


FORMS["856fc3f7cd24e9e381610df0"] = kthvalue


def median(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["c118166d33bd02e1250afd49"] = median


def median_dim(input, dim=_required, keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("median() missing 1 required positional argument: 'dim'")
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), None)


FORMS["aa68f024f51d100bc33c4ffc"] = median_dim


def nanmedian(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["8b943588bbbe0ece48bb89fc"] = nanmedian


def nanmedian_dim(input, dim=_required, keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("nanmedian() missing 1 required positional argument: 'dim'")
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), None)


FORMS["1f53d099edf5c129c9661099"] = nanmedian_dim


def mode(input, dim=-1, keepdim=False, *, out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), out, None)
    return _call(_spec, (input, ), (_number(dim, 'dim'), keepdim, ), None)


FORMS["d2ff976d5215d7bb5a2958dc"] = mode


def quantile(input, q, dim=None, keepdim=False, *, interpolation='linear', out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, q, ), (_number(dim, 'dim'), keepdim, interpolation, ), out, None)
    return _call(_spec, (input, q, ), (_number(dim, 'dim'), keepdim, interpolation, ), None)


FORMS["d924226ee0f49db51e7bae23"] = quantile


def nanquantile(input, q, dim=None, keepdim=False, *, interpolation='linear', out=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (input, q, ), (_number(dim, 'dim'), keepdim, interpolation, ), out, None)
    return _call(_spec, (input, q, ), (_number(dim, 'dim'), keepdim, interpolation, ), None)


FORMS["b0b7b0fbd86140b7c820924d"] = nanquantile


def searchsorted(sorted_sequence, values=_required, *, out_int32=False, right=False, side=None, sorter=None, out=None, input=_same_values, self=_same_values):
    if input is not _same_values:
        values = input
    elif self is not _same_values:
        values = self
    elif values is _required:
        raise TypeError("searchsorted() missing 1 required positional argument: 'values'")
    if out is not None:
        return _call_out(_spec, (sorted_sequence, values, sorter, ), (out_int32, right, side, ), out, None)
    return _call(_spec, (sorted_sequence, values, sorter, ), (out_int32, right, side, ), None)


FORMS["709766d7f8e56ae64e85c6f6"] = searchsorted


def bucketize(input=_required, boundaries=_required, *, out_int32=False, right=False, out=None, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("bucketize() missing 1 required positional argument: 'input'")
    if boundaries is _required:
        raise TypeError("bucketize() missing 1 required positional argument: 'boundaries'")
    if out is not None:
        return _call_out(_spec, (input, boundaries, ), (out_int32, right, ), out, None)
    return _call(_spec, (input, boundaries, ), (out_int32, right, ), None)


FORMS["4cf44038268c49948becc23b"] = bucketize


def isin(elements=_required, test_elements=_required, *, assume_unique=False, invert=False, out=None, element=_same_elements, test_element=_same_test_elements):
    if element is not _same_elements:
        elements = element
    elif elements is _required:
        raise TypeError("isin() missing 1 required positional argument: 'elements'")
    if test_element is not _same_test_elements:
        test_elements = test_element
    elif test_elements is _required:
        raise TypeError("isin() missing 1 required positional argument: 'test_elements'")
    if out is not None:
        return _call_out(_spec, (elements, test_elements, ), (assume_unique, invert, ), out, None)
    return _call(_spec, (elements, test_elements, ), (assume_unique, invert, ), None)


FORMS["1f8a9983e9bff3254b29027d"] = isin


def det(input=_required, *, out=None, A=_same_input):
    if A is not _same_input:
        input = A
    elif input is _required:
        raise TypeError("det() missing 1 required positional argument: 'input'")
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["2837770837226275944c034b"] = det


def slogdet(input=_required, *, out=None, A=_same_input):
    if A is not _same_input:
        input = A
    elif input is _required:
        raise TypeError("slogdet() missing 1 required positional argument: 'input'")
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["78454c5db6464845f0ff7f96"] = slogdet


def logdet(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["fbcd0a68fd3f690c294b636e"] = logdet


def matrix_exp(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["7da5d4cb28ba2aab5ede8d73"] = matrix_exp


def matrix_power(input, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(n, 'n'), ), out, None)
    return _call(_spec, (input, ), (_number(n, 'n'), ), None)


FORMS["829e426ae848a6fe84f1a73c"] = matrix_power


def bilinear(input1, input2, weight, bias=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (input1, input2, weight, bias, ), (), out, None)
    return _call(_spec, (input1, input2, weight, bias, ), (), None)


FORMS["f48aaeb65526c7aa3f79dd62"] = bilinear


def rand(*sizes, size=None, generator=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    size = _varargs(sizes) if size is None else size
    if out is not None:
        return _call_out(_spec, (), (_number(size, 'size'), None, None if dtype is None else _dtype(dtype), ), out, generator)
    return _finish(_make(_spec, (), (_number(size, 'size'), None, None if dtype is None else _dtype(dtype), ), generator, device), device, requires_grad)


FORMS["11636555f1ad67c528b4c3a5"] = rand


def randn(*sizes, size=None, generator=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    size = _varargs(sizes) if size is None else size
    if out is not None:
        return _call_out(_spec, (), (_number(size, 'size'), None, None if dtype is None else _dtype(dtype), ), out, generator)
    return _finish(_make(_spec, (), (_number(size, 'size'), None, None if dtype is None else _dtype(dtype), ), generator, device), device, requires_grad)


FORMS["c1eefda4da18de060258795f"] = randn


def randint(low=0, high=None, size=None, *, generator=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_static(low), _static(high), _static(size), None, None if dtype is None else _dtype(dtype), ), out, generator)
    return _finish(_make(_spec, (), (_static(low), _static(high), _static(size), None, None if dtype is None else _dtype(dtype), ), generator, device), device, requires_grad)


FORMS["9ea830f1937fbef3c84bc8a1"] = randint


def randperm(n, *, generator=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(n, 'n'), None, None if dtype is None else _dtype(dtype), ), out, generator)
    return _finish(_make(_spec, (), (_number(n, 'n'), None, None if dtype is None else _dtype(dtype), ), generator, device), device, requires_grad)


FORMS["6ffa1e8060856d3641ca7974"] = randperm


def rand_like(input, *, generator=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, memory_format=None):
    return _finish(_make(_spec, (input, ), (None, None if dtype is None else _dtype(dtype), ), generator, device), device, requires_grad, memory_format)


FORMS["ef44bbd442b091aa98cbaf9d"] = rand_like


def randn_like(input, *, generator=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, memory_format=None):
    return _finish(_make(_spec, (input, ), (None, None if dtype is None else _dtype(dtype), ), generator, device), device, requires_grad, memory_format)


FORMS["9ba5d8a46f3d62ae9ce757f1"] = randn_like


def randint_like(input, low=0, high=None, *, generator=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, memory_format=None):
    return _finish(_make(_spec, (input, ), (_static(low), _static(high), None, None if dtype is None else _dtype(dtype), ), generator, device), device, requires_grad, memory_format)


FORMS["718b7631f6b2770ca6a8ae7e"] = randint_like


def normal(mean, std, *, generator=None, out=None):
    if out is not None:
        return _call_out(_spec, (mean, std, ), (None, ), out, generator)
    return _call(_spec, (mean, std, ), (None, ), generator)


FORMS["ada3b56bb15d10f100e114db"] = normal


def normal_around(mean, std=1, *, generator=None, out=None):
    if out is not None:
        return _call_out(_spec, (mean, ), (_number(std, 'std'), None, ), out, generator)
    return _call(_spec, (mean, ), (_number(std, 'std'), None, ), generator)


FORMS["7c7f22b24e30a005cab70946"] = normal_around


def normal_spread(mean, std, *, generator=None, out=None):
    if out is not None:
        return _call_out(_spec, (std, ), (_number(mean, 'mean'), None, ), out, generator)
    return _call(_spec, (std, ), (_number(mean, 'mean'), None, ), generator)


FORMS["f5794c371e2568656323f680"] = normal_spread


def normal_size(mean, std, size, *, generator=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(mean, 'mean'), _number(std, 'std'), _number(size, 'size'), None, None if dtype is None else _dtype(dtype), ), out, generator)
    return _finish(_make(_spec, (), (_number(mean, 'mean'), _number(std, 'std'), _number(size, 'size'), None, None if dtype is None else _dtype(dtype), ), generator, device), device, requires_grad)


FORMS["17bfd59d417023d25ed3f66e"] = normal_size


def bernoulli(input, p=None, *, generator=None, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_static(p), None, ), out, generator)
    return _call(_spec, (input, ), (_static(p), None, ), generator)


FORMS["cc8379cbe928573364e08ea1"] = bernoulli


def poisson(input, *, generator=None, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (None, ), out, generator)
    return _call(_spec, (input, ), (None, ), generator)


FORMS["f3a726abafa95594ea8cdc2d"] = poisson


def binomial(count, prob, *, generator=None, out=None):
    if out is not None:
        return _call_out(_spec, (count, prob, ), (None, ), out, generator)
    return _call(_spec, (count, prob, ), (None, ), generator)


FORMS["c6cfb802035f295d7275c254"] = binomial


def multinomial(input, num_samples, replacement=False, *, generator=None, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(num_samples, 'num_samples'), replacement, None, ), out, generator)
    return _call(_spec, (input, ), (_number(num_samples, 'num_samples'), replacement, None, ), generator)


FORMS["d96c8dd95f18598b8c36f1b6"] = multinomial


def pixel_shuffle(input, upscale_factor, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(upscale_factor, 'upscale_factor'), ), out, None)
    return _call(_spec, (input, ), (_number(upscale_factor, 'upscale_factor'), ), None)


FORMS["c0a995a12942ef1aa2c624e6"] = pixel_shuffle


def pixel_unshuffle(input, downscale_factor, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(downscale_factor, 'downscale_factor'), ), out, None)
    return _call(_spec, (input, ), (_number(downscale_factor, 'downscale_factor'), ), None)


FORMS["c0752ae1276e1c808b2127e7"] = pixel_unshuffle


def channel_shuffle(input, groups, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(groups, 'groups'), ), out, None)
    return _call(_spec, (input, ), (_number(groups, 'groups'), ), None)


FORMS["439818abdee350d00caeec5d"] = channel_shuffle


def inverse(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["d4bf63b2cad93c977d8dc5c8"] = inverse


def triangular_solve(input, A, upper=True, transpose=False, unitriangular=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, A, ), (upper, transpose, unitriangular, ), out, None)
    return _call(_spec, (input, A, ), (upper, transpose, unitriangular, ), None)


FORMS["5151b684cd3cf30292ea9c78"] = triangular_solve


def cholesky_solve(input, input2, upper=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, input2, ), (upper, ), out, None)
    return _call(_spec, (input, input2, ), (upper, ), None)


FORMS["918e2eb0837cd617cd3f887b"] = cholesky_solve


def cholesky_inverse(input, upper=False, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (upper, ), out, None)
    return _call(_spec, (input, ), (upper, ), None)


FORMS["a69f60d0d39c9e075f58f995"] = cholesky_inverse


def lu_solve(input, LU_data, LU_pivots, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, LU_data, LU_pivots, ), (), out, None)
    return _call(_spec, (input, LU_data, LU_pivots, ), (), None)


FORMS["446087f898a6355ef8f4851e"] = lu_solve


def pinverse(input, rcond=1e-15, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(rcond, 'rcond'), ), out, None)
    return _call(_spec, (input, ), (_number(rcond, 'rcond'), ), None)


FORMS["8c3af86f09eef7eda71eff56"] = pinverse


def polygamma(n, input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(n, 'n'), ), out, None)
    return _call(_spec, (input, ), (_number(n, 'n'), ), None)


FORMS["465cc4a525edede9ceddb664"] = polygamma


def mvlgamma(input, p, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(p, 'p'), ), out, None)
    return _call(_spec, (input, ), (_number(p, 'p'), ), None)


FORMS["1c8002a201861c0d05d94953"] = mvlgamma


def mvlgamma_(input, p):
    return _call_inplace(_spec, (input, ), (_number(p, 'p'), ), None)


FORMS["eabca7d9b48b5d09d1c8783e"] = mvlgamma_


def logit(input, eps=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(eps, 'eps'), ), out, None)
    return _call(_spec, (input, ), (_number(eps, 'eps'), ), None)


FORMS["a30d2425c7c3aca07f50e06b"] = logit


def logit_(input, eps=None):
    return _call_inplace(_spec, (input, ), (_number(eps, 'eps'), ), None)


FORMS["fa511b06f3e14c28c8e72030"] = logit_


def exp2(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["6e4359df32534c0b2fb4ef1d"] = exp2


def exp2_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["4133997d7700f1236e496c43"] = exp2_


def expm1(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["33e0dbce63d0a92389dac492"] = expm1


def expm1_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["88d1c908009171c7cd4bc174"] = expm1_


def log1p(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["ada354f9bb0c2180125c8752"] = log1p


def log1p_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["0e353005e842a5b1514bb1bc"] = log1p_


def sinc(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["99e9c1e2a3cd5c5325dd3b30"] = sinc


def sinc_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["086f3317e9b5372dd843bd53"] = sinc_


def sigmoid(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["f437e2c97647290fbff4a7f2"] = sigmoid


def sigmoid_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["8a5f4d29f23b03a4b1cfd4b2"] = sigmoid_


def erf(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["c7539213ca38b4181b2756f4"] = erf


def erf_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["16f72aac51d365375fa26921"] = erf_


def erfc(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["9a3441e92db37988f0906f8c"] = erfc


def erfc_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["0224b1e91ddb433a0ba1dfed"] = erfc_


def erfinv(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["49a093b5263f02ed84be4b40"] = erfinv


def erfinv_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["abdd46d2f74e2d2ea3ea455c"] = erfinv_


def lgamma(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["369b8d2e2d7505e10e786cce"] = lgamma


def lgamma_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["31e5111f4a4f7909f6f664a8"] = lgamma_


def digamma(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["0200c0fc0b31d017655ed130"] = digamma


def digamma_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["fb1fc9198cffb79c531d4924"] = digamma_


def i0(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["1c2825b181dc268d43f7d0bf"] = i0


def i0_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["382209059bce622944a0958e"] = i0_


def xlogy(input=_required, other=_required, *, out=None, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("xlogy() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("xlogy() missing 1 required positional argument: 'other'")
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["853dda6964ca816b7a1f3b84"] = xlogy


def xlogy_(input=_required, other=_required, *, self=_same_input):
    if self is not _same_input:
        input = self
    elif input is _required:
        raise TypeError("xlogy() missing 1 required positional argument: 'input'")
    if other is _required:
        raise TypeError("xlogy() missing 1 required positional argument: 'other'")
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["b7b16d6ff70c65d314e173e6"] = xlogy_


def igamma(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["81efc751274db0ecbd5a8266"] = igamma


def igamma_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["a84671285327f84309f1e0a9"] = igamma_


def igammac(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["e1e28bc5a2f2d451571165e1"] = igammac


def igammac_(input, other):
    return _call_inplace(_spec, (input, other, ), (), None)


FORMS["f0f8b77d12e483180f3fab2f"] = igammac_


def hann_window(window_length, periodic=True, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(window_length, 'window_length'), periodic, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(window_length, 'window_length'), periodic, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["7aab1c352da95d38dd67bf6c"] = hann_window


def blackman_window(window_length, periodic=True, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(window_length, 'window_length'), periodic, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(window_length, 'window_length'), periodic, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["3130f2380a813e3d37bf4cd6"] = blackman_window


def bartlett_window(window_length, periodic=True, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(window_length, 'window_length'), periodic, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(window_length, 'window_length'), periodic, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["8e3e510ef0d1db07ff509237"] = bartlett_window


def hamming_window(window_length, periodic=True, alpha=0.54, beta=0.46, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(window_length, 'window_length'), periodic, _number(alpha, 'alpha'), _number(beta, 'beta'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(window_length, 'window_length'), periodic, _number(alpha, 'alpha'), _number(beta, 'beta'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["a1a2609f09a8306796cf56d9"] = hamming_window


def kaiser_window(window_length, periodic=True, beta=12.0, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(window_length, 'window_length'), periodic, _number(beta, 'beta'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(window_length, 'window_length'), periodic, _number(beta, 'beta'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["c98e1e86888e8fe27b0b2295"] = kaiser_window


def zero_(input):
    return _call_inplace(_spec, (input, ), (), None)


FORMS["1bc6f4ae43cccf8946d1443a"] = zero_


def airy_ai(x, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, ), (), out, None)
    return _call(_spec, (x, ), (), None)


FORMS["125ac57f46d3e34f47b4b95f"] = airy_ai


def bessel_j0(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["78c51159616614b8eef9fc9a"] = bessel_j0


def bessel_j1(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["6666d97d35d804c6ffd9ccb1"] = bessel_j1


def bessel_y0(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["4500639b7bffd200ddc138a4"] = bessel_y0


def bessel_y1(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["fe42a57f81d8574b48226c52"] = bessel_y1


def modified_bessel_i0(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["09979cb73e36b07d445df3fa"] = modified_bessel_i0


def modified_bessel_i1(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["a003e3b5beb8543757732436"] = modified_bessel_i1


def modified_bessel_k0(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["8b77f83e73c59e1c88ee6bb0"] = modified_bessel_k0


def modified_bessel_k1(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["5e34452e9376669a03f888ba"] = modified_bessel_k1


def scaled_modified_bessel_k0(x, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, ), (), out, None)
    return _call(_spec, (x, ), (), None)


FORMS["65850354512077ffc4ec3747"] = scaled_modified_bessel_k0


def scaled_modified_bessel_k1(x, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, ), (), out, None)
    return _call(_spec, (x, ), (), None)


FORMS["f89a3932694243cccd52f2d2"] = scaled_modified_bessel_k1


def spherical_bessel_j0(x, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, ), (), out, None)
    return _call(_spec, (x, ), (), None)


FORMS["93927a3a721d3b008996eded"] = spherical_bessel_j0


def hermite_polynomial_h(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["461b2cc4c042b9bb9d5e6dd7"] = hermite_polynomial_h


def hermite_polynomial_he(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["3b40a84d36b7f3de6736a812"] = hermite_polynomial_he


def laguerre_polynomial_l(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["9e5960575d97943f5b7742a3"] = laguerre_polynomial_l


def legendre_polynomial_p(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["b8668de60293d3b1e72efb15"] = legendre_polynomial_p


def chebyshev_polynomial_t(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["2a4cedb89b494402a94c8e0d"] = chebyshev_polynomial_t


def shifted_chebyshev_polynomial_t(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["e0e565ce1b6d0670aed03df6"] = shifted_chebyshev_polynomial_t


def chebyshev_polynomial_u(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["877e1141c9d4d94c4b4e6872"] = chebyshev_polynomial_u


def shifted_chebyshev_polynomial_u(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["e1a052b3e3918b0caf673254"] = shifted_chebyshev_polynomial_u


def chebyshev_polynomial_v(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["faf0ff24b6ccf009b2003dc4"] = chebyshev_polynomial_v


def shifted_chebyshev_polynomial_v(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["ec0b39fc0c2eb2d07851d77d"] = shifted_chebyshev_polynomial_v


def chebyshev_polynomial_w(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["51a00f77969df13176c50bc9"] = chebyshev_polynomial_w


def shifted_chebyshev_polynomial_w(x, n, *, out=None):
    if out is not None:
        return _call_out(_spec, (x, n, ), (), out, None)
    return _call(_spec, (x, n, ), (), None)


FORMS["fa5f38b1ba748ae857f002dd"] = shifted_chebyshev_polynomial_w


def multigammaln(input, p, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(p, 'p'), ), out, None)
    return _call(_spec, (input, ), (_number(p, 'p'), ), None)


FORMS["e620124d5bf6c015ca5e3e42"] = multigammaln


def i0e(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["e547550667e25edb585d575c"] = i0e


def i1(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["9228c48169e00763a5ecbf1a"] = i1


def i1e(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["284a7d6c3a628cdc247437c2"] = i1e


def ndtr(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["4ec4888bbcbaf0452b6eca14"] = ndtr


def log_ndtr(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["64ef6a90516c6785f10a8a4c"] = log_ndtr


def ndtri(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["d4efe9aa1a5dc8fa6e82a842"] = ndtri


def expit(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["c777764896950d45bf1d9973"] = expit


def psi(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["7cf535bab9cab2e7dabc7b67"] = psi


def gammaln(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["2b241f6e02629d561db0e725"] = gammaln


def erfcx(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["d23722c3071f09c631b32fc4"] = erfcx


def entr(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["77b691567cf55d7eaaa6bd26"] = entr


def xlog1py(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["f1dfcbfa635fcfe0223fa305"] = xlog1py


def zeta(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["acc167f752a122346be0b0b0"] = zeta


def gammainc(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["0f9365b3bdcf7d0801dabb63"] = gammainc


def gammaincc(input, other, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (), out, None)
    return _call(_spec, (input, other, ), (), None)


FORMS["d55568764e44b39a1c739bab"] = gammaincc


def relu6(input):
    return _call(_spec, (input, ), (), None)


FORMS["7ed99ce88fecfc635b9a6c5d"] = relu6


def hardtanh(input, min_val=-1.0, max_val=1.0):
    return _call(_spec, (input, ), (_number(min_val, 'min_val'), _number(max_val, 'max_val'), ), None)


FORMS["559b68bf3e16a65a6b988a8a"] = hardtanh


def hardtanh_(input, min_val=-1.0, max_val=1.0):
    return _call_inplace(_spec, (input, ), (_number(min_val, 'min_val'), _number(max_val, 'max_val'), ), None)


FORMS["b3aa3d6db99ae707b1079b29"] = hardtanh_


def leaky_relu(input, negative_slope=0.01):
    return _call(_spec, (input, ), (_number(negative_slope, 'negative_slope'), ), None)


FORMS["6158fb097bab18bb4661c628"] = leaky_relu


def leaky_relu_(input, negative_slope=0.01):
    return _call_inplace(_spec, (input, ), (_number(negative_slope, 'negative_slope'), ), None)


FORMS["5d6546bde7bbfa96c1be6733"] = leaky_relu_


def elu(input, alpha=1.0):
    return _call(_spec, (input, ), (_number(alpha, 'alpha'), ), None)


FORMS["503282f766d5ad01b76172b5"] = elu


def elu_(input, alpha=1.0):
    return _call_inplace(_spec, (input, ), (_number(alpha, 'alpha'), ), None)


FORMS["680a9f725fab3df572d429f9"] = elu_


def gelu(input, approximate='none', *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (approximate, ), out, None)
    return _call(_spec, (input, ), (approximate, ), None)


FORMS["d80d39fe4cb082c8efa870bb"] = gelu


def silu(input):
    return _call(_spec, (input, ), (), None)


FORMS["1f75b03142e24ad0fab98583"] = silu


def mish(input):
    return _call(_spec, (input, ), (), None)


FORMS["ac222c6b33783fe455fa4c3f"] = mish


def softplus(input, beta=1.0, threshold=20.0, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(beta, 'beta'), _number(threshold, 'threshold'), ), out, None)
    return _call(_spec, (input, ), (_number(beta, 'beta'), _number(threshold, 'threshold'), ), None)


FORMS["174911d7aced8406ed7f3551"] = softplus


def hardsigmoid(input):
    return _call(_spec, (input, ), (), None)


FORMS["731a60855c77da1ebaaaabcc"] = hardsigmoid


def hardswish(input):
    return _call(_spec, (input, ), (), None)


FORMS["4211fb6cde2ca01b9d62ef26"] = hardswish


def logsigmoid(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["b541dbd345950b9c44c05dc1"] = logsigmoid


def softsign(input):
    return _call(_spec, (input, ), (), None)


FORMS["55055b288be0ec2c6dca20aa"] = softsign


def tanhshrink(input):
    return _call(_spec, (input, ), (), None)


FORMS["48cf3e31a9d0bf054a1ecab6"] = tanhshrink


def softshrink(input, lambd=0.5, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(lambd, 'lambd'), ), out, None)
    return _call(_spec, (input, ), (_number(lambd, 'lambd'), ), None)


FORMS["16285ef92b71e7e136bdde22"] = softshrink


def glu(input, dim=-1, *, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    return _call(_spec, (input, ), (_number(dim, 'dim'), ), None)


FORMS["52c5d7e0ce9e5521d02f5dc7"] = glu


def softmin(input, dim=None, dtype=None, *, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    return _call(_spec, (input, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["b7c912db2cfd1037785508fa"] = softmin


def gumbel_softmax(logits, tau=1, hard=False, eps=1e-10, dim=-1, *, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    return _call(_spec, (logits, ), (_number(tau, 'tau'), hard, _number(eps, 'eps'), _number(dim, 'dim'), ), None)


FORMS["466df141a0e666805d280880"] = gumbel_softmax


def dropout1d(input, p=0.5, training=True):
    return _call(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["2fa9a7fdd8a61c6c81b4f402"] = dropout1d


def dropout1d_(input, p=0.5, training=True):
    return _call_inplace(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["786c5085685db86cef15c022"] = dropout1d_


def dropout2d(input, p=0.5, training=True):
    return _call(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["097b484704b4452692864da9"] = dropout2d


def dropout2d_(input, p=0.5, training=True):
    return _call_inplace(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["386803695246e000cc9351c6"] = dropout2d_


def dropout3d(input, p=0.5, training=True):
    return _call(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["bc038a702eecb06d4de605a2"] = dropout3d


def dropout3d_(input, p=0.5, training=True):
    return _call_inplace(_spec, (input, ), (_number(p, 'p'), training, ), None)


FORMS["e821957843d22c0e431ec0c5"] = dropout3d_


def scaled_dot_product_attention(query, key, value, attn_mask=None, dropout_p=0.0, is_causal=False, *, scale=None, enable_gqa=False):
    return _call(_spec, (query, key, value, attn_mask, ), (_number(dropout_p, 'dropout_p'), is_causal, _number(scale, 'scale'), enable_gqa, ), None)


FORMS["208c3f1c73f613145c458d75"] = scaled_dot_product_attention


def multi_head_attention_forward(query, key, value, embed_dim_to_check, num_heads, in_proj_weight, in_proj_bias, bias_k, bias_v, add_zero_attn, dropout_p, out_proj_weight, out_proj_bias, training=True, key_padding_mask=None, need_weights=True, attn_mask=None, use_separate_proj_weight=False, q_proj_weight=None, k_proj_weight=None, v_proj_weight=None, static_k=None, static_v=None, average_attn_weights=True, is_causal=False):
    return _call(_spec, (query, key, value, in_proj_weight, in_proj_bias, bias_k, bias_v, out_proj_weight, out_proj_bias, key_padding_mask, attn_mask, q_proj_weight, k_proj_weight, v_proj_weight, static_k, static_v, ), (_number(embed_dim_to_check, 'embed_dim_to_check'), _number(num_heads, 'num_heads'), add_zero_attn, _number(dropout_p, 'dropout_p'), training, need_weights, use_separate_proj_weight, average_attn_weights, is_causal, ), None)


FORMS["710f853fa68f988b5d40b694"] = multi_head_attention_forward


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    return _call(_spec, (input, ), (_static(output_size), _static(kernel_size), _static(dilation), _static(padding), _static(stride), ), None)


FORMS["5178283b06230ef9628cb7d6"] = fold


def mse_loss(input, target, size_average=None, reduce=None, reduction='mean', weight=None):
    return _call(_spec, (input, target, weight, ), (_static(size_average), _static(reduce), reduction, ), None)


FORMS["a6217c9197c48b5fa11d8e99"] = mse_loss


def l1_loss(input, target, size_average=None, reduce=None, reduction='mean', weight=None):
    return _call(_spec, (input, target, weight, ), (_static(size_average), _static(reduce), reduction, ), None)


FORMS["42adfbd4303ea4a2ebf290b2"] = l1_loss


def smooth_l1_loss(input, target, size_average=None, reduce=None, reduction='mean', beta=1.0):
    return _call(_spec, (input, target, ), (_static(size_average), _static(reduce), reduction, _number(beta, 'beta'), ), None)


FORMS["90454e3b29431b1ba2dc073f"] = smooth_l1_loss


def huber_loss(input, target, reduction='mean', delta=1.0, weight=None):
    return _call(_spec, (input, target, weight, ), (reduction, _number(delta, 'delta'), ), None)


FORMS["935dea1d18d319eb8f418eeb"] = huber_loss


def binary_cross_entropy(input, target, weight=None, size_average=None, reduce=None, reduction='mean'):
    return _call(_spec, (input, target, weight, ), (_static(size_average), _static(reduce), reduction, ), None)


FORMS["6ae5b71501fd455093a8f4f8"] = binary_cross_entropy


def binary_cross_entropy_with_logits(input, target, weight=None, size_average=None, reduce=None, reduction='mean', pos_weight=None):
    return _call(_spec, (input, target, weight, pos_weight, ), (_static(size_average), _static(reduce), reduction, ), None)


FORMS["d39fe15510aeab70f51539f4"] = binary_cross_entropy_with_logits


def kl_div(input, target, size_average=None, reduce=None, reduction='mean', log_target=False):
    return _call(_spec, (input, target, ), (_static(size_average), _static(reduce), reduction, log_target, ), None)


FORMS["eaf7a991e096114deb28eea3"] = kl_div


def nll_loss(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean'):
    return _call(_spec, (input, target, weight, ), (_static(size_average), _number(ignore_index, 'ignore_index'), _static(reduce), reduction, ), None)


FORMS["287b0ff78f5dda2491655a8e"] = nll_loss


def cross_entropy(input, target, weight=None, size_average=None, ignore_index=-100, reduce=None, reduction='mean', label_smoothing=0.0):
    return _call(_spec, (input, target, weight, ), (_static(size_average), _number(ignore_index, 'ignore_index'), _static(reduce), reduction, _number(label_smoothing, 'label_smoothing'), ), None)


FORMS["3e8dd930387bf629e0643b85"] = cross_entropy


def poisson_nll_loss(input, target, log_input=True, full=False, size_average=None, eps=1e-08, reduce=None, reduction='mean'):
    return _call(_spec, (input, target, ), (log_input, full, _static(size_average), _number(eps, 'eps'), _static(reduce), reduction, ), None)


FORMS["31b5be54348b1905f19f998b"] = poisson_nll_loss


def gaussian_nll_loss(input, target, var, full=False, eps=1e-06, reduction='mean'):
    return _call(_spec, (input, target, var, ), (full, _number(eps, 'eps'), reduction, ), None)


FORMS["9c60d721d4fb7a18aaabd7ed"] = gaussian_nll_loss


def linear_cross_entropy(input, linear_weight, target, *, linear_bias=None, weight=None, reduction='mean', ignore_index=None, label_smoothing=0.0, options=None):
    return _call(_spec, (input, linear_weight, target, linear_bias, weight, ), (reduction, _number(ignore_index, 'ignore_index'), _number(label_smoothing, 'label_smoothing'), _static(options), ), None)


FORMS["4df0c79c088071141abc5a76"] = linear_cross_entropy


def ctc_loss(log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', zero_infinity=False):
    return _call(_spec, (log_probs, targets, input_lengths, target_lengths, ), (_number(blank, 'blank'), reduction, zero_infinity, ), None)


FORMS["f12459f0ba764da61f1d3867"] = ctc_loss


def ctc_loss_of_lengths(log_probs, targets, input_lengths, target_lengths, blank=0, reduction='mean', zero_infinity=False):
    return _call(_spec, (log_probs, targets, ), (_number(input_lengths, 'input_lengths'), _number(target_lengths, 'target_lengths'), _number(blank, 'blank'), reduction, zero_infinity, ), None)


FORMS["cfb81d69a623488ca83eb45e"] = ctc_loss_of_lengths


def grid_sample(input, grid, mode='bilinear', padding_mode='zeros', align_corners=None):
    return _call(_spec, (input, grid, ), (mode, padding_mode, align_corners, ), None)


FORMS["256f3780ca74602876c2be04"] = grid_sample


def affine_grid(theta, size, align_corners=None):
    return _call(_spec, (theta, ), (_number(size, 'size'), align_corners, ), None)


FORMS["2d49ba1945d8b6023e20b6e8"] = affine_grid


def pad(input, pad, mode='constant', value=None):
    return _call(_spec, (input, value, ), (_number(pad, 'pad'), mode, ), None)


FORMS["f0fb8f08596ec5f28d9cb32e"] = pad


def max_pool1d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return _call(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), _static(dilation), ceil_mode, return_indices, ), None)


FORMS["48be47c049f5f1441256c77b"] = max_pool1d_with_indices


def avg_pool1d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True):
    return _call(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), ceil_mode, count_include_pad, ), None)


FORMS["2e94bc535de406f94877f64a"] = avg_pool1d


def adaptive_avg_pool1d(input, output_size):
    return _call(_spec, (input, ), (_static(output_size), ), None)


FORMS["99a6375f26274ed0567487fa"] = adaptive_avg_pool1d


def adaptive_max_pool1d(input, output_size):
    return _call(_spec, (input, ), (_static(output_size), ), None)


FORMS["12aee65269084cb4470d6058"] = adaptive_max_pool1d


def adaptive_max_pool1d_with_indices(input, output_size, return_indices=False):
    return _call(_spec, (input, ), (_static(output_size), return_indices, ), None)


FORMS["7cd0bcf7f9baaaad84223702"] = adaptive_max_pool1d_with_indices


def lp_pool1d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _call(_spec, (input, ), (_number(norm_type, 'norm_type'), _static(kernel_size), _static(stride), ceil_mode, ), None)


FORMS["cf1413ca08e55ac2fdcfa732"] = lp_pool1d


def max_unpool1d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _call(_spec, (input, indices, ), (_static(kernel_size), _static(stride), _static(padding), _static(output_size), ), None)


FORMS["eca244c86367717978b331c8"] = max_unpool1d


def max_pool2d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return _call(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), _static(dilation), ceil_mode, return_indices, ), None)


FORMS["160ab657701bc955d99c33c4"] = max_pool2d_with_indices


def avg_pool2d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), ceil_mode, count_include_pad, _number(divisor_override, 'divisor_override'), ), out, None)
    return _call(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), ceil_mode, count_include_pad, _number(divisor_override, 'divisor_override'), ), None)


FORMS["cedfd57558b2889225af92e3"] = avg_pool2d


def adaptive_avg_pool2d(input, output_size):
    return _call(_spec, (input, ), (_static(output_size), ), None)


FORMS["cfd1e5402017b08e41d9c54f"] = adaptive_avg_pool2d


def adaptive_max_pool2d(input, output_size):
    return _call(_spec, (input, ), (_static(output_size), ), None)


FORMS["e8aff69eca1de24ae9d327be"] = adaptive_max_pool2d


def adaptive_max_pool2d_with_indices(input, output_size, return_indices=False):
    return _call(_spec, (input, ), (_static(output_size), return_indices, ), None)


FORMS["c92dabfa5f5954be9adf3323"] = adaptive_max_pool2d_with_indices


def lp_pool2d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _call(_spec, (input, ), (_number(norm_type, 'norm_type'), _static(kernel_size), _static(stride), ceil_mode, ), None)


FORMS["fd9c7fb1a5ff6bc8e4ea8a16"] = lp_pool2d


def max_unpool2d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _call(_spec, (input, indices, ), (_static(kernel_size), _static(stride), _static(padding), _static(output_size), ), None)


FORMS["87b57a0c33b03143658d246f"] = max_unpool2d


def max_pool3d_with_indices(input, kernel_size, stride=None, padding=0, dilation=1, ceil_mode=False, return_indices=False):
    return _call(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), _static(dilation), ceil_mode, return_indices, ), None)


FORMS["411bbc4c7ba3f150642a7c46"] = max_pool3d_with_indices


def avg_pool3d(input, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), ceil_mode, count_include_pad, _number(divisor_override, 'divisor_override'), ), out, None)
    return _call(_spec, (input, ), (_static(kernel_size), _static(stride), _static(padding), ceil_mode, count_include_pad, _number(divisor_override, 'divisor_override'), ), None)


FORMS["971072533be339f7404883dc"] = avg_pool3d


def adaptive_avg_pool3d(input, output_size):
    return _call(_spec, (input, ), (_static(output_size), ), None)


FORMS["af7ec71f5559b013ee452429"] = adaptive_avg_pool3d


def adaptive_max_pool3d(input, output_size):
    return _call(_spec, (input, ), (_static(output_size), ), None)


FORMS["02c30e1038d2d9f21cc65731"] = adaptive_max_pool3d


def adaptive_max_pool3d_with_indices(input, output_size, return_indices=False):
    return _call(_spec, (input, ), (_static(output_size), return_indices, ), None)


FORMS["727aa9ad8ab099f50431856f"] = adaptive_max_pool3d_with_indices


def lp_pool3d(input, norm_type, kernel_size, stride=None, ceil_mode=False):
    return _call(_spec, (input, ), (_number(norm_type, 'norm_type'), _static(kernel_size), _static(stride), ceil_mode, ), None)


FORMS["51fe330a0a0e2271fbee8c83"] = lp_pool3d


def max_unpool3d(input, indices, kernel_size, stride=None, padding=0, output_size=None):
    return _call(_spec, (input, indices, ), (_static(kernel_size), _static(stride), _static(padding), _static(output_size), ), None)


FORMS["723add8ab3917185d8252704"] = max_unpool3d


def fractional_max_pool2d(input, kernel_size, output_size=None, output_ratio=None, _random_samples=None):
    return _call(_spec, (input, _random_samples, ), (_static(kernel_size), _static(output_size), _static(output_ratio), ), None)


FORMS["ce0651563442a0af1cc9f031"] = fractional_max_pool2d


def fractional_max_pool2d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    return _call(_spec, (input, _random_samples, ), (_static(kernel_size), _static(output_size), _static(output_ratio), return_indices, ), None)


FORMS["80ba43b297d6e449cd568910"] = fractional_max_pool2d_with_indices


def fractional_max_pool3d(input, kernel_size, output_size=None, output_ratio=None, _random_samples=None):
    return _call(_spec, (input, _random_samples, ), (_static(kernel_size), _static(output_size), _static(output_ratio), ), None)


FORMS["6ef3926e618a9412e1740478"] = fractional_max_pool3d


def fractional_max_pool3d_with_indices(input, kernel_size, output_size=None, output_ratio=None, return_indices=False, _random_samples=None):
    return _call(_spec, (input, _random_samples, ), (_static(kernel_size), _static(output_size), _static(output_ratio), return_indices, ), None)


FORMS["8891ddba4c2bb133b7c382b6"] = fractional_max_pool3d_with_indices


def batch_norm(input, running_mean, running_var, weight=None, bias=None, training=False, momentum=0.1, eps=1e-05):
    return _call(_spec, (input, running_mean, running_var, weight, bias, ), (training, _number(momentum, 'momentum'), _number(eps, 'eps'), ), None)


FORMS["987475191fa5ca9f3587baa7"] = batch_norm


def instance_norm(input, running_mean=None, running_var=None, weight=None, bias=None, use_input_stats=True, momentum=0.1, eps=1e-05):
    return _call(_spec, (input, running_mean, running_var, weight, bias, ), (use_input_stats, _number(momentum, 'momentum'), _number(eps, 'eps'), ), None)


FORMS["1470012a73513006599baa85"] = instance_norm


def local_response_norm(input, size, alpha=0.0001, beta=0.75, k=1.0):
    return _call(_spec, (input, ), (_number(size, 'size'), _number(alpha, 'alpha'), _number(beta, 'beta'), _number(k, 'k'), ), None)


FORMS["c9bd55605b6aa4046c6bf0e4"] = local_response_norm


def normalize(input, p=2.0, dim=1, eps=1e-12, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(p, 'p'), _number(dim, 'dim'), _number(eps, 'eps'), ), out, None)
    return _call(_spec, (input, ), (_number(p, 'p'), _number(dim, 'dim'), _number(eps, 'eps'), ), None)


FORMS["f9281cd535e1c72a9b115106"] = normalize


def soft_margin_loss(input, target, size_average=None, reduce=None, reduction='mean'):
    return _call(_spec, (input, target, ), (_static(size_average), _static(reduce), reduction, ), None)


FORMS["6a8fbec5336f0f3f4b118778"] = soft_margin_loss


def hinge_embedding_loss(input, target, margin=1.0, size_average=None, reduce=None, reduction='mean'):
    return _call(_spec, (input, target, ), (_number(margin, 'margin'), _static(size_average), _static(reduce), reduction, ), None)


FORMS["ffe3bc1f5a527d26276fd4bd"] = hinge_embedding_loss


def margin_ranking_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean'):
    return _call(_spec, (input1, input2, target, ), (_number(margin, 'margin'), _static(size_average), _static(reduce), reduction, ), None)


FORMS["321f2a85777d27fc637e2aa8"] = margin_ranking_loss


def triplet_margin_loss(anchor, positive, negative, margin=1.0, p=2, eps=1e-06, swap=False, size_average=None, reduce=None, reduction='mean'):
    return _call(_spec, (anchor, positive, negative, ), (_number(margin, 'margin'), _number(p, 'p'), _number(eps, 'eps'), swap, _static(size_average), _static(reduce), reduction, ), None)


FORMS["37c899b11327c350d1856de4"] = triplet_margin_loss


def cosine_embedding_loss(input1, input2, target, margin=0, size_average=None, reduce=None, reduction='mean'):
    return _call(_spec, (input1, input2, target, ), (_number(margin, 'margin'), _static(size_average), _static(reduce), reduction, ), None)


FORMS["42eb01c306e1e08d4ba7871b"] = cosine_embedding_loss


def multi_margin_loss(input, target, p=1, margin=1.0, weight=None, size_average=None, reduce=None, reduction='mean'):
    return _call(_spec, (input, target, weight, ), (_number(p, 'p'), _number(margin, 'margin'), _static(size_average), _static(reduce), reduction, ), None)


FORMS["d910869b4f4e47c6bcee5ba5"] = multi_margin_loss


def multilabel_margin_loss(input, target, size_average=None, reduce=None, reduction='mean'):
    return _call(_spec, (input, target, ), (_static(size_average), _static(reduce), reduction, ), None)


FORMS["9388ed0ab4f747ece2be56d1"] = multilabel_margin_loss


def multilabel_soft_margin_loss(input, target, weight=None, size_average=None, reduce=None, reduction='mean'):
    return _call(_spec, (input, target, weight, ), (_static(size_average), _static(reduce), reduction, ), None)


FORMS["3876baecda0533dd6946ee63"] = multilabel_soft_margin_loss


def linear(input, weight, bias=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, weight, bias, ), (), out, None)
    return _call(_spec, (input, weight, bias, ), (), None)


FORMS["a3e081b80a700850288e52fa"] = linear


def embedding(input, weight, padding_idx=None, max_norm=None, norm_type=2.0, scale_grad_by_freq=False, sparse=False):
    return _call(_spec, (input, weight, ), (_number(padding_idx, 'padding_idx'), _number(max_norm, 'max_norm'), _number(norm_type, 'norm_type'), scale_grad_by_freq, sparse, ), None)


FORMS["834f72b1fb70ed75ba604511"] = embedding


def embedding_bag(input, weight, offsets=None, max_norm=None, norm_type=2, scale_grad_by_freq=False, mode='mean', sparse=False, per_sample_weights=None, include_last_offset=False, padding_idx=None):
    return _call(_spec, (input, weight, offsets, per_sample_weights, ), (_number(max_norm, 'max_norm'), _number(norm_type, 'norm_type'), scale_grad_by_freq, mode, sparse, include_last_offset, _number(padding_idx, 'padding_idx'), ), None)


FORMS["7b6c070c65edcd7f4e058a0a"] = embedding_bag


def one_hot(input, num_classes=-1):
    return _call(_spec, (input, ), (_number(num_classes, 'num_classes'), ), None)


FORMS["e66aea589385c595a41e0955"] = one_hot


def interpolate(input, size=None, scale_factor=None, mode='nearest', align_corners=None, recompute_scale_factor=None, antialias=False):
    return _call(_spec, (input, ), (_static(size), _static(scale_factor), mode, align_corners, recompute_scale_factor, antialias, ), None)


FORMS["3d2a376f46d947b8a810716e"] = interpolate


def upsample(input, size=None, scale_factor=None, mode='nearest', align_corners=None):
    return _call(_spec, (input, ), (_static(size), _static(scale_factor), mode, align_corners, ), None)


FORMS["dc39e5219e244031d8902e0e"] = upsample


def upsample_nearest(input, size=None, scale_factor=None):
    return _call(_spec, (input, ), (_static(size), _static(scale_factor), ), None)


FORMS["501764d335061bb922bb62c5"] = upsample_nearest


def upsample_bilinear(input, size=None, scale_factor=None):
    return _call(_spec, (input, ), (_static(size), _static(scale_factor), ), None)


FORMS["9278b5da29b56908b4455f5d"] = upsample_bilinear


def unfold_patches(input, kernel_size, dilation=1, padding=0, stride=1, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_static(kernel_size), _static(dilation), _static(padding), _static(stride), ), out, None)
    return _call(_spec, (input, ), (_static(kernel_size), _static(dilation), _static(padding), _static(stride), ), None)


FORMS["bfce60075f479ad5292943eb"] = unfold_patches


def vecdot(x, y, *, dim=-1, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (x, y, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (x, y, ), (_number(dim, 'dim'), ), None)


FORMS["c74195caa5d94bf6de2f4f61"] = vecdot


def multi_dot(tensors, *, out=None):
    if out is not None:
        return _call_out(_spec, (tensors, ), (), out, None)
    return _call(_spec, (tensors, ), (), None)


FORMS["12af95d0aa481c6d9027465c"] = multi_dot


def linalg_cross(input, other, *, dim=-1, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, other, ), (_number(dim, 'dim'), ), out, None)
    return _call(_spec, (input, other, ), (_number(dim, 'dim'), ), None)


FORMS["ce8a54a4f8f6ed7c4e7caae5"] = linalg_cross


def linalg_vander(x, *, N=None, out=None):
    if out is not None:
        return _call_out(_spec, (x, ), (_number(N, 'N'), ), out, None)
    return _call(_spec, (x, ), (_number(N, 'N'), ), None)


FORMS["616ee1d7586215a49ee61f2c"] = linalg_vander


def linalg_cholesky(A=_required, *, upper=False, out=None, input=_same_A):
    if input is not _same_A:
        A = input
    elif A is _required:
        raise TypeError("linalg_cholesky() missing 1 required positional argument: 'A'")
    if out is not None:
        return _call_out(_spec, (A, ), (upper, ), out, None)
    return _call(_spec, (A, ), (upper, ), None)


FORMS["34f01d3afeaff87da2ddf714"] = linalg_cholesky


def cholesky_ex(A=_required, *, upper=False, check_errors=False, out=None, input=_same_A):
    if input is not _same_A:
        A = input
    elif A is _required:
        raise TypeError("cholesky_ex() missing 1 required positional argument: 'A'")
    if out is not None:
        return _call_out(_spec, (A, ), (upper, check_errors, ), out, None)
    return _call(_spec, (A, ), (upper, check_errors, ), None)


FORMS["dfbed5771d5d895b236257d7"] = cholesky_ex


def lu_factor(A, *, pivot=True, out=None):
    if out is not None:
        return _call_out(_spec, (A, ), (pivot, ), out, None)
    return _call(_spec, (A, ), (pivot, ), None)


FORMS["2b8e9d20b52c14103b06b8b5"] = lu_factor


def lu_factor_ex(A, *, pivot=True, check_errors=False, out=None):
    if out is not None:
        return _call_out(_spec, (A, ), (pivot, check_errors, ), out, None)
    return _call(_spec, (A, ), (pivot, check_errors, ), None)


FORMS["159f2046b0225da289488092"] = lu_factor_ex


def linalg_lu(A, *, pivot=True, out=None):
    if out is not None:
        return _call_out(_spec, (A, ), (pivot, ), out, None)
    return _call(_spec, (A, ), (pivot, ), None)


FORMS["4af39f2b9e883029df396359"] = linalg_lu


def linalg_qr(A, mode='reduced', *, out=None):
    if out is not None:
        return _call_out(_spec, (A, ), (mode, ), out, None)
    return _call(_spec, (A, ), (mode, ), None)


FORMS["cde10a1e7d56fe85164635be"] = linalg_qr


def householder_product(A=_required, tau=_required, *, out=None, input=_same_A):
    if input is not _same_A:
        A = input
    elif A is _required:
        raise TypeError("householder_product() missing 1 required positional argument: 'A'")
    if tau is _required:
        raise TypeError("householder_product() missing 1 required positional argument: 'tau'")
    if out is not None:
        return _call_out(_spec, (A, tau, ), (), out, None)
    return _call(_spec, (A, tau, ), (), None)


FORMS["8f2186688e56b198ee39cea0"] = householder_product


def eig(A=_required, *, out=None, input=_same_A):
    if input is not _same_A:
        A = input
    elif A is _required:
        raise TypeError("eig() missing 1 required positional argument: 'A'")
    if out is not None:
        return _call_out(_spec, (A, ), (), out, None)
    return _call(_spec, (A, ), (), None)


FORMS["b8e5ff6ce11d614471f07073"] = eig


def eigvals(A=_required, *, out=None, input=_same_A):
    if input is not _same_A:
        A = input
    elif A is _required:
        raise TypeError("eigvals() missing 1 required positional argument: 'A'")
    if out is not None:
        return _call_out(_spec, (A, ), (), out, None)
    return _call(_spec, (A, ), (), None)


FORMS["08a66df83436075615dc59ea"] = eigvals


def eigh(A=_required, UPLO='L', *, out=None, input=_same_A):
    if input is not _same_A:
        A = input
    elif A is _required:
        raise TypeError("eigh() missing 1 required positional argument: 'A'")
    if out is not None:
        return _call_out(_spec, (A, ), (UPLO, ), out, None)
    return _call(_spec, (A, ), (UPLO, ), None)


FORMS["5ee70caf18fb7f5239cc096a"] = eigh


def eigvalsh(A=_required, UPLO='L', *, out=None, input=_same_A):
    if input is not _same_A:
        A = input
    elif A is _required:
        raise TypeError("eigvalsh() missing 1 required positional argument: 'A'")
    if out is not None:
        return _call_out(_spec, (A, ), (UPLO, ), out, None)
    return _call(_spec, (A, ), (UPLO, ), None)


FORMS["f2d679e0761f7d2e0efac2e2"] = eigvalsh


def linalg_svd(A, full_matrices=True, *, driver=None, out=None):
    if out is not None:
        return _call_out(_spec, (A, ), (full_matrices, driver, ), out, None)
    return _call(_spec, (A, ), (full_matrices, driver, ), None)


FORMS["37c80f52da89668d4b0bfb49"] = linalg_svd


def svdvals(A, *, driver=None, out=None):
    if out is not None:
        return _call_out(_spec, (A, ), (driver, ), out, None)
    return _call(_spec, (A, ), (driver, ), None)


FORMS["5cf04233c6ca78daabc75c85"] = svdvals


def ldl_factor(input, *, hermitian=False, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (hermitian, ), out, None)
    return _call(_spec, (input, ), (hermitian, ), None)


FORMS["7dbc90b7c58fb88b29710f94"] = ldl_factor


def ldl_factor_ex(input, *, hermitian=False, check_errors=False, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (hermitian, check_errors, ), out, None)
    return _call(_spec, (input, ), (hermitian, check_errors, ), None)


FORMS["6e1b46c03c671e2ba6ee25fb"] = ldl_factor_ex


def ldl_solve(LD, pivots, B, *, hermitian=False, out=None):
    if out is not None:
        return _call_out(_spec, (LD, pivots, B, ), (hermitian, ), out, None)
    return _call(_spec, (LD, pivots, B, ), (hermitian, ), None)


FORMS["87c99b79e621dece4755d7e3"] = ldl_solve


def vector_norm(x=_required, ord=2, dim=None, keepdim=False, *, dtype=None, out=None, axis=_same_dim, keepdims=_same_keepdim, input=_same_x):
    if input is not _same_x:
        x = input
    elif x is _required:
        raise TypeError("vector_norm() missing 1 required positional argument: 'x'")
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (x, ), (_static(ord), _static(dim), keepdim, None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (x, ), (_static(ord), _static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["e300ce2ced974493471bf29b"] = vector_norm


def matrix_norm(A=_required, ord='fro', dim=(-2, -1), keepdim=False, *, dtype=None, out=None, axis=_same_dim, keepdims=_same_keepdim, input=_same_A):
    if input is not _same_A:
        A = input
    elif A is _required:
        raise TypeError("matrix_norm() missing 1 required positional argument: 'A'")
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (A, ), (_static(ord), _static(dim), keepdim, None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (A, ), (_static(ord), _static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["02b508fd29aa7b24834c6e06"] = matrix_norm


def linalg_norm(A=_required, ord=None, dim=None, keepdim=False, *, dtype=None, out=None, axis=_same_dim, keepdims=_same_keepdim, input=_same_A):
    if input is not _same_A:
        A = input
    elif A is _required:
        raise TypeError("linalg_norm() missing 1 required positional argument: 'A'")
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    if out is not None:
        return _call_out(_spec, (A, ), (_static(ord), _static(dim), keepdim, None if dtype is None else _dtype(dtype), ), out, None)
    return _call(_spec, (A, ), (_static(ord), _static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["8a39c398734cb8b7798c13fa"] = linalg_norm


def cond(input, p=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_static(p), ), out, None)
    return _call(_spec, (input, ), (_static(p), ), None)


FORMS["cfb70954000f27a990700319"] = cond


def solve(A, B, *, left=True, out=None):
    if out is not None:
        return _call_out(_spec, (A, B, ), (left, ), out, None)
    return _call(_spec, (A, B, ), (left, ), None)


FORMS["cb1b24660103839a7579ccee"] = solve


def solve_ex(A, B, *, left=True, check_errors=False, out=None):
    if out is not None:
        return _call_out(_spec, (A, B, ), (left, check_errors, ), out, None)
    return _call(_spec, (A, B, ), (left, check_errors, ), None)


FORMS["65650e985ef85a5081ca5935"] = solve_ex


def inv(A, *, out=None):
    if out is not None:
        return _call_out(_spec, (A, ), (), out, None)
    return _call(_spec, (A, ), (), None)


FORMS["e01843bc719c95b88463d498"] = inv


def inv_ex(A, *, check_errors=False, out=None):
    if out is not None:
        return _call_out(_spec, (A, ), (check_errors, ), out, None)
    return _call(_spec, (A, ), (check_errors, ), None)


FORMS["175478b69f75698deedd5017"] = inv_ex


def tensorinv(input, ind=2, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (_number(ind, 'ind'), ), out, None)
    return _call(_spec, (input, ), (_number(ind, 'ind'), ), None)


FORMS["d6dacaa5c5f6575b091d7a02"] = tensorinv


def tensorsolve(input, other, dims=None, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, other, ), (_static(dims), ), out, None)
    return _call(_spec, (input, other, ), (_static(dims), ), None)


FORMS["2429a75b64914d45a49ddd6b"] = tensorsolve


def solve_triangular(input, B, *, upper, left=True, unitriangular=False, out=None):
    if out is not None:
        return _call_out(_spec, (input, B, ), (upper, left, unitriangular, ), out, None)
    return _call(_spec, (input, B, ), (upper, left, unitriangular, ), None)


FORMS["ebb8e3ddd91a64ffcc46d462"] = solve_triangular


def linalg_lu_solve(LU, pivots, B, *, left=True, adjoint=False, out=None):
    if out is not None:
        return _call_out(_spec, (LU, pivots, B, ), (left, adjoint, ), out, None)
    return _call(_spec, (LU, pivots, B, ), (left, adjoint, ), None)


FORMS["ccfdc1fe2d103d478aa67ec0"] = linalg_lu_solve


def pinv(input, rcond=None, hermitian=False, *, atol=None, rtol=None, out=None):
    if out is not None:
        return _call_out(_spec, (input, rcond, atol, rtol, ), (hermitian, ), out, None)
    return _call(_spec, (input, rcond, atol, rtol, ), (hermitian, ), None)


FORMS["7ed857c7a21b555bf7ad94d7"] = pinv


def matrix_rank(input, tol=None, hermitian=False, *, atol=None, rtol=None, out=None):
    if out is not None:
        return _call_out(_spec, (input, tol, atol, rtol, ), (hermitian, ), out, None)
    return _call(_spec, (input, tol, atol, rtol, ), (hermitian, ), None)


FORMS["893503aa9fb50579260fb24b"] = matrix_rank


def lstsq(input, b, rcond=None, *, driver=None, out=None):
    if out is not None:
        return _call_out(_spec, (input, b, ), (_number(rcond, 'rcond'), driver, ), out, None)
    return _call(_spec, (input, b, ), (_number(rcond, 'rcond'), driver, ), None)


FORMS["a9053080f42de240f4a7d551"] = lstsq


def fft_fft(input, n=None, dim=-1, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), None)


FORMS["8e5192f21f9fdf5be8985dc0"] = fft_fft


def fft_fft2(input, s=None, dim=(-2, -1), norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["07f6fa4a8de2e8f04fe4953c"] = fft_fft2


def fft_fftn(input, s=None, dim=None, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["bcf1354bc7daf018f9445c39"] = fft_fftn


def fft_ifft(input, n=None, dim=-1, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), None)


FORMS["851a8f707ba5eccf3efadf68"] = fft_ifft


def fft_ifft2(input, s=None, dim=(-2, -1), norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["8c30d171259913cdaef6ff5e"] = fft_ifft2


def fft_ifftn(input, s=None, dim=None, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["c0e3eaaa2d5342a1c6001a61"] = fft_ifftn


def fft_rfft(input, n=None, dim=-1, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), None)


FORMS["90fdc60170603bbc5962ccfb"] = fft_rfft


def fft_rfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["a2b4935426040d85c37ee7b1"] = fft_rfft2


def fft_rfftn(input, s=None, dim=None, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["dcbdc9fc34195f1ca0f1c535"] = fft_rfftn


def fft_irfft(input, n=None, dim=-1, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), None)


FORMS["b59580054f3109a8ad0b715c"] = fft_irfft


def fft_irfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["5f9d924d43233b201d801df5"] = fft_irfft2


def fft_irfftn(input, s=None, dim=None, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["b4b743b861d6d60a2696e48c"] = fft_irfftn


def fft_hfft(input, n=None, dim=-1, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), None)


FORMS["8d7ffcbfbe1ba588de27037c"] = fft_hfft


def fft_hfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["3ec0bb1528dc44a8c1e51f4c"] = fft_hfft2


def fft_hfftn(input, s=None, dim=None, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["8b525ce2c455f75fbd4357be"] = fft_hfftn


def fft_ihfft(input, n=None, dim=-1, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(n, 'n'), _number(dim, 'dim'), norm, ), None)


FORMS["783c7972aa1b01db075754ba"] = fft_ihfft


def fft_ihfft2(input, s=None, dim=(-2, -1), norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["1978e4fd9697207a35ffd31f"] = fft_ihfft2


def fft_ihfftn(input, s=None, dim=None, norm=None, *, out=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    if out is not None:
        return _call_out(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), out, None)
    return _call(_spec, (input, ), (_number(s, 's'), _number(dim, 'dim'), norm, ), None)


FORMS["c1f8d6acf658c39459f2ff17"] = fft_ihfftn


def fft_fftfreq(n, d=1.0, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(n, 'n'), _number(d, 'd'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(n, 'n'), _number(d, 'd'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["a8d120b7db2f5aa89794325f"] = fft_fftfreq


def fft_rfftfreq(n, d=1.0, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(n, 'n'), _number(d, 'd'), None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(n, 'n'), _number(d, 'd'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["5bb5a9a694d1c4e6eaf20d2a"] = fft_rfftfreq


def fft_fftshift(input, dim=None, *, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    return _call(_spec, (input, ), (_number(dim, 'dim'), ), None)


FORMS["3c52facf925b088786ff6753"] = fft_fftshift


def fft_ifftshift(input, dim=None, *, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    return _call(_spec, (input, ), (_number(dim, 'dim'), ), None)


FORMS["fb9b870ca17a5e6b63bbf066"] = fft_ifftshift


def masked_sum(input, dim=None, *, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["6d32950cd5fa448418d207bf"] = masked_sum


def masked_prod(input, dim=None, *, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["0da20ac93b72a64de511fa0a"] = masked_prod


def masked_cumsum(input, dim=_required, *, dtype=None, mask=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("masked_cumsum() missing 1 required positional argument: 'dim'")
    return _call(_spec, (input, mask, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["214409542d48c0defb120791"] = masked_cumsum


def masked_cumprod(input, dim=_required, *, dtype=None, mask=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("masked_cumprod() missing 1 required positional argument: 'dim'")
    return _call(_spec, (input, mask, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["cedbac8a1604cab416cd142a"] = masked_cumprod


def masked_amax(input, dim=None, *, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["c368bfbbcab93e292cc2aa00"] = masked_amax


def masked_amin(input, dim=None, *, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["13d5800c86cd0e015d85e7fd"] = masked_amin


def masked_argmax(input, dim=None, *, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_number(dim, 'dim'), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["d19bfb64fd2b606b02d5c6dc"] = masked_argmax


def masked_argmin(input, dim=None, *, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_number(dim, 'dim'), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["0a586baff7fb9ebd46b0305f"] = masked_argmin


def masked_mean(input, dim=None, *, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["9876ca60363c6108f0d6ba2c"] = masked_mean


def masked_median(input, dim=-1, *, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_number(dim, 'dim'), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["a6c9e165e18d60b2d646a8b6"] = masked_median


def masked_logsumexp(input, dim=None, *, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["771d90f13e5b6f3c906a9687"] = masked_logsumexp


def masked_logaddexp(input, other, *, dtype=None, input_mask=None, other_mask=None):
    return _call(_spec, (input, other, input_mask, other_mask, ), (None if dtype is None else _dtype(dtype), ), None)


FORMS["99601793baf6f4b3be2a2365"] = masked_logaddexp


def masked_norm(input, ord=2.0, dim=None, *, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_number(ord, 'ord'), _static(dim), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["05585156b1585e158386512a"] = masked_norm


def masked_var(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_static(dim), unbiased, _static(correction), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["4eb8216baa3ad759c714360c"] = masked_var


def masked_std(input, dim=None, unbiased=None, *, correction=None, keepdim=False, dtype=None, mask=None, axis=_same_dim, keepdims=_same_keepdim):
    if axis is not _same_dim:
        dim = axis
    if keepdims is not _same_keepdim:
        keepdim = keepdims
    return _call(_spec, (input, mask, ), (_static(dim), unbiased, _static(correction), keepdim, None if dtype is None else _dtype(dtype), ), None)


FORMS["fa436327b3d6cd7ea72815fd"] = masked_std


def masked_softmax(input, dim=_required, *, dtype=None, mask=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("masked_softmax() missing 1 required positional argument: 'dim'")
    return _call(_spec, (input, mask, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["7bbbb5da9d629ae87f6a9d59"] = masked_softmax


def masked_log_softmax(input, dim=_required, *, dtype=None, mask=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("masked_log_softmax() missing 1 required positional argument: 'dim'")
    return _call(_spec, (input, mask, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["02becee9fedf1cad4d4e949d"] = masked_log_softmax


def masked_softmin(input, dim=_required, *, dtype=None, mask=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("masked_softmin() missing 1 required positional argument: 'dim'")
    return _call(_spec, (input, mask, ), (_number(dim, 'dim'), None if dtype is None else _dtype(dtype), ), None)


FORMS["cbdb85bda98037f0ae676a08"] = masked_softmin


def masked_normalize(input, ord, dim=_required, *, eps=1e-12, dtype=None, mask=None, axis=_same_dim):
    if axis is not _same_dim:
        dim = axis
    elif dim is _required:
        raise TypeError("masked_normalize() missing 1 required positional argument: 'dim'")
    return _call(_spec, (input, mask, ), (_number(ord, 'ord'), _number(dim, 'dim'), _number(eps, 'eps'), None if dtype is None else _dtype(dtype), ), None)


FORMS["334552a75804813c4d6a934c"] = masked_normalize


def windows_general_cosine(M, *, a, sym=True, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(M, 'M'), _number(a, 'a'), sym, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(M, 'M'), _number(a, 'a'), sym, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["4867de179aea64f4b6681104"] = windows_general_cosine


def windows_general_hamming(M, *, alpha=0.54, sym=True, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(M, 'M'), _number(alpha, 'alpha'), sym, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(M, 'M'), _number(alpha, 'alpha'), sym, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["acb14b933bfb41f5e31762ed"] = windows_general_hamming


def windows_kaiser(M, *, beta=12.0, sym=True, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(M, 'M'), _number(beta, 'beta'), sym, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(M, 'M'), _number(beta, 'beta'), sym, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["3a78fad2e86a009e1d42970c"] = windows_kaiser


def windows_exponential(M, *, center=None, tau=1.0, sym=True, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(M, 'M'), _number(center, 'center'), _number(tau, 'tau'), sym, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(M, 'M'), _number(center, 'center'), _number(tau, 'tau'), sym, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["4c7bd7d9bbdf276434177f62"] = windows_exponential


def windows_gaussian(M, *, std=1.0, sym=True, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(M, 'M'), _number(std, 'std'), sym, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(M, 'M'), _number(std, 'std'), sym, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["c3758afbf028ca92d5dfda48"] = windows_gaussian


def windows_cosine(M, *, sym=True, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["6a51ae174de5d2409012c48c"] = windows_cosine


def windows_bartlett(M, *, sym=True, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["5869512ef92ef61b09b3738c"] = windows_bartlett


def windows_hann(M, *, sym=True, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["b61b40feefba7e609820766b"] = windows_hann


def windows_hamming(M, *, sym=True, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["3e9157431d62a8e78bc41269"] = windows_hamming


def windows_blackman(M, *, sym=True, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["7f2194a69db9e6c5501b58e9"] = windows_blackman


def windows_nuttall(M, *, sym=True, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False, out=None):
    if out is not None:
        return _call_out(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), out, None)
    return _finish(_make(_spec, (), (_number(M, 'M'), sym, None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["22cf3694077285b418bf4c91"] = windows_nuttall


def bernoulli_(input, p=0.5, *, generator=None):
    return _call_inplace(_spec, (input, ), (_static(p), None, ), generator)


FORMS["68b3ef43cf073bc389a7c13a"] = bernoulli_


def bernoulli_(input, p, *, generator=None):
    return _call_inplace(_spec, (input, p, ), (None, ), generator)


FORMS["bcb733b99a553e815f64f7ba"] = bernoulli_


def cauchy_(input, median=0, sigma=1, *, generator=None):
    return _call_inplace(_spec, (input, ), (_number(median, 'median'), _number(sigma, 'sigma'), None, ), generator)


FORMS["c41f123fc84fb81b7dc8d590"] = cauchy_


def copy_(input, other, non_blocking=False):
    return _call_inplace(_spec, (input, other, ), (non_blocking, ), None)


FORMS["7f74eee4cc0cd0b7202b2889"] = copy_


def exponential_(input, lambd=1, *, generator=None):
    return _call_inplace(_spec, (input, ), (_number(lambd, 'lambd'), None, ), generator)


FORMS["5c01bf908a5eb3d5836a7c8a"] = exponential_


def fill_diagonal_(input, fill_value, wrap=False):
    return _call_inplace(_spec, (input, fill_value, ), (wrap, ), None)


FORMS["3faa19559ed533b03dae6d01"] = fill_diagonal_


def float_power_(input, exponent):
    return _call_inplace(_spec, (input, exponent, ), (), None)


FORMS["e06b51d794acde2b99c09507"] = float_power_


def geometric_(input, p, *, generator=None):
    return _call_inplace(_spec, (input, ), (_number(p, 'p'), None, ), generator)


FORMS["63f55922621c3b397f0ec9a4"] = geometric_


def log_normal_(input, mean=1, std=2, *, generator=None):
    return _call_inplace(_spec, (input, ), (_number(mean, 'mean'), _number(std, 'std'), None, ), generator)


FORMS["73c643197a2c04a8d6e0142a"] = log_normal_


def new_empty(input, *sizes, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    size = _varargs(sizes) if size is None else size
    return _finish(_make(_spec, (input, ), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["62be3cad9f6784a84b65a973"] = new_empty


def new_full(input, size, fill_value, *, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    return _finish(_make(_spec, (input, fill_value, ), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["5979f0828e13d2d82c6bae9f"] = new_full


def new_ones(input, *sizes, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    size = _varargs(sizes) if size is None else size
    return _finish(_make(_spec, (input, ), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["3b574bf4dcd65b7cd212be9e"] = new_ones


def new_zeros(input, *sizes, size=None, dtype=None, device=None, requires_grad=False, layout=None, pin_memory=False):
    size = _varargs(sizes) if size is None else size
    return _finish(_make(_spec, (input, ), (_number(size, 'size'), None if dtype is None else _dtype(dtype), ), None, device), device, requires_grad)


FORMS["ac2e9cb114476d192f7951e6"] = new_zeros


def normal_(input, mean=0, std=1, *, generator=None):
    return _call_inplace(_spec, (input, ), (_number(mean, 'mean'), _number(std, 'std'), None, ), generator)


FORMS["44714e293edc60dd47e93d91"] = normal_


def polygamma_(input, n):
    return _call_inplace(_spec, (input, ), (_number(n, 'n'), ), None)


FORMS["53f963259196378aa8c66ad8"] = polygamma_


def random_(input, low=None, to=None, *, generator=None):
    return _call_inplace(_spec, (input, ), (_static(low), _static(to), None, ), generator)


FORMS["538683b5af698446d174aba5"] = random_


def trace(input, *, out=None):
    if out is not None:
        return _call_out(_spec, (input, ), (), out, None)
    return _call(_spec, (input, ), (), None)


FORMS["4a2ba1fc2b7a738e174c2ff5"] = trace


def uniform_(input, low=0, to=1, *, generator=None):
    return _call_inplace(_spec, (input, ), (_number(low, 'low'), _number(to, 'to'), None, ), generator)


FORMS["e25e8ce7454329839751379b"] = uniform_
