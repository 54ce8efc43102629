const unheard = new WeakSet<object>();

/** Marks the error of a call that was never sent, so that nobody but its caller knows of it. */
export function markUnheard(error: object): void {
  unheard.add(error);
}

/** Whether an error is of a call that was never sent. */
export const isUnheard = (error: unknown): boolean => unheard.has(error as object);
