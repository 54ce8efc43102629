import type { Metadata, status as Status, StatusObject } from "@grpc/grpc-js";
import type { HeadersInit } from "../wire/metadata.ts";

/** Receives the response. */
export interface ResponseListener {
  onReceiveMetadata(metadata: Metadata): void;
  onReceiveMessage(bytes: Uint8Array): void;
  /** Called last. */
  onReceiveStatus(status: StatusObject): void;
}

/** The caller's end of a call, whatever carries it. The names are those of grpc-js. */
export interface OutgoingCall {
  start(header: HeadersInit, listener: ResponseListener): void;
  /** Requests one more message. */
  startRead(): void;
  /** `callback` is called when the message is on its way. */
  sendMessageWithContext(context: { callback?: () => void }, bytes: Buffer): void;
  halfClose(): void;
  cancelWithStatus(code: Status, details: string): void;
}
