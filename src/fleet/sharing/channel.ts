/** Carries messages between the cores of one service. A message may be lost, but never arrives late or in part. */
export interface FleetChannel {
  /** Sends a message to all cores, including this one. The message is lost while there is no connection. */
  send(message: Uint8Array): void;
  /** Calls `hear` with every message from now on. */
  listen(hear: (message: Uint8Array) => void): void;
  /** Connects anew, since messages that should have come did not. */
  renew(): void;
  close(): Promise<void>;
}
