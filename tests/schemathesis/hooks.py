"""Every request comes from another address, as those of strangers do."""
from itertools import count

import schemathesis

numbers = count(1)


@schemathesis.hook
def before_call(context, case, kwargs):
    number = next(numbers)
    address = f"10.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}"
    case.headers = {**(case.headers or {}), "X-Forwarded-For": address}
