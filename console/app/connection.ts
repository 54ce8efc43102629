import { signal } from "@preact/signals";

/** Whether the last call failed because the server could not be reached. */
export const isConnectionLost = signal(false);

export function connectionLost(): void {
  isConnectionLost.value = true;
}

export function connectionWorks(): void {
  isConnectionLost.value = false;
}
