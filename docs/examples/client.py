"""An internal service that generates on behalf of an account, in Python.

pip install grpcio grpcio-tools grpcio-status
python -m grpc_tools.protoc -I proto --python_out=OUT --grpc_python_out=OUT \
    proto/tollgate/{access,errors,inference,metering,validate}/v1/*.proto
PYTHONPATH=OUT python docs/examples/client.py 127.0.0.1:50051 SERVICE_TOKEN ACCOUNT MODEL
"""

import sys

import grpc
from tollgate.errors.v1 import error_detail_pb2
from grpc_status import rpc_status
from tollgate.inference.v1 import conversation_pb2, inference_service_pb2, inference_service_pb2_grpc

target, token, account, model = sys.argv[1:]
metadata = [("authorization", f"Bearer {token}"), ("x-tollgate-account", account)]
request = inference_service_pb2.GenerateRequest(
    model=model,
    conversation=conversation_pb2.Conversation(
        messages=[conversation_pb2.Message(role=conversation_pb2.ROLE_USER, text="Hello")]
    ),
    max_output_tokens=20,
)
with grpc.insecure_channel(target) as channel:
    inference = inference_service_pb2_grpc.InferenceServiceStub(channel)
    try:
        for response in inference.Generate(request, metadata=metadata, timeout=30):
            for event in response.events:
                if event.WhichOneof("event") == "text":
                    print(event.text, end="", flush=True)
                elif event.WhichOneof("event") == "finished":
                    print(f"\n{event.finished.usage.output_tokens} tokens")
    except grpc.RpcError as error:
        status = rpc_status.from_call(error)
        detail = error_detail_pb2.ErrorDetail()
        if status and status.details and status.details[0].Unpack(detail):
            print(error_detail_pb2.Reason.Name(detail.reason), file=sys.stderr)
        sys.exit(f"{error.code().name}: {error.details()}")
