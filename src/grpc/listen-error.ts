/** An address that cannot be listened on, said so that whoever starts the process can act on it. */
export function listenError(address: string, setting: string, cause: unknown): Error {
  const text = cause instanceof Error ? cause.message : String(cause);
  return new Error(`Cannot listen on ${address}: ${explain(text, setting)}`, { cause });
}

function explain(text: string, setting: string): string {
  if (text.includes("EADDRINUSE")) {
    return `another process already does. Stop that process, or set ${setting} to another address.`;
  }
  if (text.includes("EADDRNOTAVAIL") || text.includes("ENOTFOUND")) {
    return `this machine has no such address. Set ${setting} to one that it has.`;
  }
  if (text.includes("EACCES")) return `this user may not. Set ${setting} to a port above 1023.`;
  return text;
}
