"""A client of narthex.v1 made of Debian's grpcio and stubs compiled from proto/."""
import queue
import subprocess

import grpc
from google.protobuf import json_format

from answer_lines import answer_lines
from narthex.v1 import admin_pb2, kernel_pb2, kernel_pb2_grpc, tool_pb2

TIMEOUT = 60
LARGEST = 64 * 1024 * 1024

channel = None
stub = None
futures = {}
streams = {}


def connect(address):
    global channel, stub
    sizes = [("grpc.max_send_message_length", LARGEST), ("grpc.max_receive_message_length", LARGEST)]
    channel = grpc.insecure_channel(address, options=sizes)
    grpc.channel_ready_future(channel).result(timeout=TIMEOUT)
    stub = kernel_pb2_grpc.KernelServiceStub(channel)


def tool_request(fields):
    return json_format.ParseDict(fields, tool_pb2.ToolRequest())


def bearer(token):
    return [("authorization", "Bearer " + token)]


def call(request):
    return json_format.MessageToDict(stub.Call(tool_request(request), timeout=TIMEOUT))


def admin(method, token, request):
    """AdminService without stubs: the plugin that makes them is older than `optional` in proto3."""
    ask = channel.unary_unary(
        "/narthex.v1.AdminService/" + method,
        request_serializer=lambda message: message.SerializeToString(),
        response_deserializer=getattr(admin_pb2, method + "Response").FromString,
    )
    message = json_format.ParseDict(request, getattr(admin_pb2, method + "Request")())
    return json_format.MessageToDict(ask(message, metadata=bearer(token), timeout=TIMEOUT))


def list_tools(token):
    answer = stub.ListTools(kernel_pb2.ListToolsRequest(), metadata=bearer(token), timeout=TIMEOUT)
    return json_format.MessageToDict(answer)


def get_content(token, hash):
    """What the content store says of the content, and what b3sum says of the bytes it gave."""
    asked = kernel_pb2.GetContentRequest(hash=bytes.fromhex(hash))
    info, content = None, bytearray()
    for part in stub.GetContent(asked, metadata=bearer(token), timeout=TIMEOUT):
        if part.WhichOneof("part") == "info":
            info = part.info
        else:
            content += part.chunk
    summed = subprocess.run(["b3sum", "--no-names"], input=bytes(content), stdout=subprocess.PIPE, check=True)
    return {
        "hash": info.hash.hex(),
        "size": info.size,
        "received": len(content),
        "b3sum": summed.stdout.decode("ascii").strip(),
    }


def put_content(token, text, pieces):
    data = text.encode("utf-8")
    size = max(1, len(data) // pieces)

    def parts():
        yield kernel_pb2.PutContentRequest(header=kernel_pb2.PutContentHeader())
        for at in range(0, len(data), size):
            yield kernel_pb2.PutContentRequest(chunk=data[at : at + size])

    answer = stub.PutContent(parts(), metadata=bearer(token), timeout=TIMEOUT)
    summed = subprocess.run(["b3sum", "--no-names"], input=data, stdout=subprocess.PIPE, check=True)
    return {"hash": answer.hash.hex(), "size": answer.size, "b3sum": summed.stdout.decode("ascii").strip()}


def status_of(method, token):
    """The status with which a call that needs a token is refused."""
    try:
        if method == "ListTools":
            list_tools(token)
        else:
            admin(method, token, {})
    except grpc.RpcError as error:
        return error.code().name
    return "OK"


def begin(name, request, timeout=TIMEOUT):
    futures[name] = stub.Call.future(tool_request(request), timeout=timeout)


def cancel(name):
    """Ends the call from this side, and says how it ended for the caller."""
    futures[name].cancel()
    return futures.pop(name).code().name


def finish(name):
    """Waits for the answer, or for the status that came instead."""
    future = futures.pop(name)
    try:
        return json_format.MessageToDict(future.result(timeout=TIMEOUT))
    except grpc.RpcError as error:
        return error.code().name


def open_stream(name):
    requests = queue.Queue()
    streams[name] = (requests, stub.Session(iter(requests.get, None), timeout=TIMEOUT))


def send(name, requests):
    for request in requests:
        streams[name][0].put(tool_request(request))


def receive(name, count):
    answers = streams[name][1]
    return [json_format.MessageToDict(next(answers)) for _ in range(count)]


def end_stream(name):
    """Says that no more requests come; gives what still came and the status at the end."""
    requests, answers = streams.pop(name)
    requests.put(None)
    rest = [json_format.MessageToDict(answer) for answer in answers]
    return {"rest": rest, "status": answers.code().name}


def close():
    channel.close()


answer_lines(
    {
        operation.__name__: operation
        for operation in [
            connect,
            call,
            admin,
            list_tools,
            get_content,
            put_content,
            status_of,
            begin,
            cancel,
            finish,
            open_stream,
            send,
            receive,
            end_stream,
            close,
        ]
    }
)
