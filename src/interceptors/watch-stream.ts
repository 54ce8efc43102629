/**
 * Passes a stream on and tells once how it ended: with an error, or without one because it was complete
 * or its reader had enough. The stream goes on with the error that `onEnd` makes of the error.
 * Costs one promise a message.
 */
export function watchStream<M>(messages: AsyncIterable<M>, onEnd: (error?: unknown) => unknown): AsyncIterable<M> {
  let over = false; // of the stream, not of a reader: one that failed may be asked again to clean up
  const end = (error?: unknown): unknown => {
    if (over) {
      return error;
    }
    over = true;
    return onEnd(error);
  };
  return {
    [Symbol.asyncIterator](): AsyncIterator<M> {
      const source = messages[Symbol.asyncIterator]();
      const onResult = (result: IteratorResult<M>) => {
        if (result.done) {
          end();
        }
        return result;
      };
      const onError = (error: unknown): never => {
        throw end(error);
      };
      return {
        next: () => source.next().then(onResult, onError),
        async return() {
          await source.return?.().catch(onError); // what fails while the handler cleans up fails the call
          end();
          return { done: true, value: undefined };
        },
      };
    },
  };
}
