/**
 * Continues with a value at once if it is there, otherwise when its promise resolves: a value that nearly always comes
 * from memory costs no promise and no turn of the event loop. An error of `next` is thrown, or rejects.
 */
export function andThen<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Runs work whose result may be there at once. An error that it throws always rejects. */
export function atOnce<T>(work: () => T | Promise<T>): T | Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}
