import { signal } from "@preact/signals";

/** Whether the last call failed because the server could not be reached. */
export const isConnectionLost = signal(false);

/** Longer than queries wait before they try again: this asks for pages that have none. */
const quietMs = 5000;
const serverFailed = 500;
let waiting: ReturnType<typeof setTimeout> | undefined;

/** A call was not answered. When no other is made, the server is asked: a page without calls would say it for ever. */
export function connectionLost(): void {
  isConnectionLost.value = true;
  clearTimeout(waiting);
  waiting = setTimeout(ask, quietMs);
}

export function connectionWorks(): void {
  isConnectionLost.value = false;
  clearTimeout(waiting);
}

async function ask(): Promise<void> {
  const response = await fetch("/session").catch(() => undefined);
  if (!isConnectionLost.peek()) {
    return;
  }
  if (response !== undefined && response.status < serverFailed) {
    connectionWorks();
  } else {
    connectionLost();
  }
}
