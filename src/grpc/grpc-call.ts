import { type DescMethod, fromBinary, type Message } from "@bufbuild/protobuf";
import {
  ConnectError,
  type StreamRequest,
  type StreamResponse,
  type UnaryRequest,
  type UnaryResponse,
} from "@connectrpc/connect";
import type * as grpc from "@grpc/grpc-js";
import { bytesOf } from "./bytes.ts";
import type { CallSignal } from "./call-signal.ts";
import { CallStream } from "./call-stream.ts";
import { drained } from "./drained.ts";
import { onlyMessage } from "./messages.ts";
import { headersOf, metadataOf } from "./metadata.ts";
import { errorOf } from "./status.ts";

/** Makes a unary call with a grpc-js client. */
export function callUnary(
  client: grpc.Client,
  { method, service, message: request, header }: UnaryRequest,
  life: CallSignal,
  options: grpc.CallOptions,
): Promise<UnaryResponse> {
  return new Promise((resolve, reject) => {
    const { path, serialize, deserialize } = codecOf(method);
    let answer: Message | undefined;
    const response = new Headers();
    const call = client.makeUnaryRequest(
      path,
      serialize,
      deserialize,
      request,
      metadataOf(header),
      options,
      (_error, message) => {
        answer = message;
      },
    );
    call.on("metadata", (metadata: grpc.Metadata) => headersOf(metadata, response));
    // The status comes last, whether the callback was given an answer or an error.
    call.on("status", (status: grpc.StatusObject) => {
      if (answer) {
        const trailer = headersOf(status.metadata);
        resolve({ stream: false, service, method, header: response, trailer, message: answer });
      } else {
        life.abort(errorOf(status));
        reject(life.signal.reason); // the caller's own reason to give up, if that came first
      }
    });
    cancelWith(life.signal, call);
  });
}

/** Makes a server-streaming or bidirectional call; resolves when the response's headers are there. */
export async function callStream(
  client: grpc.Client,
  { method, service, message: requests, header }: StreamRequest,
  life: CallSignal,
  options: grpc.CallOptions,
): Promise<StreamResponse> {
  const { path, serialize, deserialize } = codecOf(method);
  const metadata = metadataOf(header);
  let call: grpc.ClientReadableStream<Message> | grpc.ClientDuplexStream<Message, Message>;
  if (method.methodKind === "server_streaming") {
    const request = await onlyMessage(requests);
    call = client.makeServerStreamRequest(path, serialize, deserialize, request, metadata, options);
  } else {
    const duplex = client.makeBidiStreamRequest(path, serialize, deserialize, metadata, options);
    sendAll(duplex, requests, life);
    call = duplex;
  }
  cancelWith(life.signal, call);
  const message = new CallStream(call, life);
  await message.opened;
  return { stream: true, service, method, header: message.header, trailer: message.trailer, message };
}

async function sendAll(
  call: grpc.ClientDuplexStream<Message, Message>,
  requests: AsyncIterable<Message>,
  life: CallSignal,
): Promise<void> {
  try {
    for await (const request of requests) {
      if (life.signal.aborted) return;
      if (!call.write(request)) await drained(call, life.signal);
    }
    call.end();
  } catch (error) {
    life.abort(ConnectError.from(error));
  }
}

function codecOf({ name, parent, input, output }: DescMethod) {
  return {
    path: `/${parent.typeName}/${name}`,
    serialize: (message: Message) => bytesOf(input, message),
    deserialize: (bytes: Buffer): Message => fromBinary(output, bytes),
  };
}

function cancelWith(signal: AbortSignal, call: grpc.ClientUnaryCall): void {
  signal.addEventListener("abort", () => call.cancel());
  if (signal.aborted) call.cancel();
}
