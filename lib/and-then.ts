/**
 * Goes on with a value at once where it is there, or when its promise has it: what nearly always comes from memory
 * costs no promise and no turn. What `next` throws is thrown, or rejects.
 */
export function andThen<T, R>(value: T | Promise<T>, next: (value: T) => R | Promise<R>): R | Promise<R> {
  return value instanceof Promise ? value.then(next) : next(value);
}

/** Does something whose result may be there at once; what it throws always rejects. */
export function atOnce<T>(work: () => T | Promise<T>): T | Promise<T> {
  try {
    return work();
  } catch (error) {
    return Promise.reject(error);
  }
}
