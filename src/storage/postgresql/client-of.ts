import { Client } from "pg";

/** A server among several. */
export interface Place {
  readonly host: string;
  readonly port: number;
}

/** The driver's client, which looks for its server before it connects. */
export function clientOf(find: () => Promise<Place>): typeof Client {
  return class extends Client {
    // The driver's pool connects with a callback, all others await.
    override connect(callback?: unknown): never {
      const connected = find().then(({ host, port }) => {
        Object.assign(this, { host, port });
        Object.assign((this as unknown as { connectionParameters: object }).connectionParameters, { host, port });
        return super.connect();
      });
      if (typeof callback === "function") {
        connected.then(
          () => callback(null, this),
          (error: unknown) => callback(error),
        );
      }
      return (callback === undefined ? connected : undefined) as never;
    }
  };
}
