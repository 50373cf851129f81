"""A daemon that listens, and somebody who may do everything there."""
from api import LISTEN, Api

LISTENING = {**LISTEN, "EIDER_STUB": "1"}


def admin(eider, daemon, token=None):
    return Api(daemon, token)
