import { signal } from "@preact/signals";

/** Whether the last call failed because the server could not be reached. */
export const isConnectionLost = signal(false);

/** How long to wait before what was not answered is asked again. */
export const retryMs = 2000;

/** Longer than queries wait before they try again: this asks for pages that have none. */
const quietMs = 5000;
const tooMany = 429;
const serverFailed = 500;
let waiting: ReturnType<typeof setTimeout> | undefined;

/** A call was not answered. When no other is made, the server is asked: a page without calls would say it for ever. */
export function connectionLost(): void {
  isConnectionLost.value = true;
  clearTimeout(waiting);
  waiting = setTimeout(() => void reach("/session"), quietMs);
}

export function connectionWorks(): void {
  isConnectionLost.value = false;
  clearTimeout(waiting);
}

/**
 * What the server answers at a path, and not the browser's cache. Undefined: it cannot be reached, the core behind it is
 * away, or it refuses to be asked so often. Such an answer tells nothing of what was asked, and every page says it.
 */
export async function reach(path: string, method = "GET"): Promise<Response | undefined> {
  const response = await fetch(path, { method, cache: "no-store" }).catch(() => undefined);
  if (response === undefined || response.status >= serverFailed || response.status === tooMany) {
    connectionLost();
    return undefined;
  }
  connectionWorks();
  return response;
}

/** Asks until the server answers. Undefined: that is not wanted any more. */
export async function reachAtLast(path: string, isWanted: () => boolean): Promise<Response | undefined> {
  while (isWanted()) {
    const response = await reach(path);
    if (response !== undefined) {
      return isWanted() ? response : undefined;
    }
    await new Promise((resolve) => setTimeout(resolve, retryMs));
  }
  return undefined;
}
