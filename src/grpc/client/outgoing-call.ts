import type { Metadata, status as Status, StatusObject } from "@grpc/grpc-js";
import type { HeadersInit } from "../wire/metadata.ts";

/** Is told what comes back. */
export interface ResponseListener {
  onReceiveMetadata(metadata: Metadata): void;
  onReceiveMessage(bytes: Uint8Array): void;
  /** The last that is told. */
  onReceiveStatus(status: StatusObject): void;
}

/** The caller's end of a call, whatever carries it. The names are grpc-js's. */
export interface OutgoingCall {
  start(header: HeadersInit, listener: ResponseListener): void;
  /** Lets one more message come. */
  startRead(): void;
  /** `callback`: the message is on its way. */
  sendMessageWithContext(context: { callback?: () => void }, bytes: Buffer): void;
  halfClose(): void;
  cancelWithStatus(code: Status, details: string): void;
}
