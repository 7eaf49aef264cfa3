"""Encodes and decodes the messages of narthex.v1 with Google's own implementation."""
from base64 import b64decode, b64encode

from google.protobuf import json_format, text_format
from google.protobuf.message import DecodeError

from answer_lines import answer_lines
from narthex.v1 import admin_pb2, kernel_pb2, ledger_pb2, tool_pb2

MODULES = [tool_pb2, kernel_pb2, ledger_pb2, admin_pb2]


def message(name):
    for module in MODULES:
        if name in module.DESCRIPTOR.message_types_by_name:
            return getattr(module, name)()
    raise KeyError(name)


def base64_of(built):
    return b64encode(built.SerializeToString(deterministic=True)).decode("ascii")


def types():
    return sorted(name for module in MODULES for name in module.DESCRIPTOR.message_types_by_name)


def encode(type, values):
    """Bytes from proto JSON."""
    return [base64_of(json_format.ParseDict(value, message(type))) for value in values]


def encode_text(type, texts):
    """Bytes from the text format."""
    return [base64_of(text_format.Parse(text, message(type))) for text in texts]


def decode(type, encoded):
    """Proto JSON from bytes."""
    return [json_format.MessageToDict(parsed(type, item)) for item in encoded]


def takes(type, encoded):
    """Whether the bytes are taken at all."""
    return [is_taken(type, item) for item in encoded]


def is_taken(type, item):
    try:
        parsed(type, item)
        return True
    except DecodeError:
        return False


def parsed(type, item):
    built = message(type)
    built.ParseFromString(b64decode(item))
    return built


answer_lines({f.__name__: f for f in [types, encode, encode_text, decode, takes]})
