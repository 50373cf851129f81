"""A daemon that listens, and somebody who may do something there."""
import itertools

from api import LISTEN, Api

LISTENING = LISTEN
NAMES = itertools.count(1)


def token(eider, *roles):
    flags = [part for role in roles for part in ("--role", role)]
    return eider("tokens", "add", f"test{next(NAMES)}", *flags, "-o", "json",
                 code=0).json()["token"]


def admin(eider, daemon, token=None):
    """Somebody who may everything; with `token`, whoever that is of."""
    return Api(daemon, token or globals()["token"](eider, "*=admin"))
