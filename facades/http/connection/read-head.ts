import type { RequestHead } from "../routing/surface.ts";

/** Reads what it can from a broken or incomplete head. */
export function readHead(head: string): RequestHead {
  const [, url = ""] = /^[A-Z]+ (\S+) HTTP\//.exec(head) ?? [];
  const lines = [...head.matchAll(/^([\w-]+):(.*)$/gm)];
  return {
    url,
    headers: Object.fromEntries(lines.map(([, name = "", value = ""]) => [name.toLowerCase(), value.trim()])),
  };
}
