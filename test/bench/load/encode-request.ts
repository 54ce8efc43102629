/** A request of the load generators. */
export interface HttpRequest {
  readonly host: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** Its bytes for a server on a port. */
export function encodeRequest({ host, path, headers, body }: HttpRequest, port: number): Buffer {
  const all = Object.entries({
    host: `${host}:${port}`,
    "content-type": "application/json",
    ...headers,
    "content-length": String(Buffer.byteLength(body)),
  });
  const head = all.map(([name, value]) => `${name}: ${value}\r\n`).join("");
  return Buffer.from(`POST ${path} HTTP/1.1\r\n${head}\r\n${body}`);
}
