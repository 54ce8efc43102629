import type { ServerConfig } from "#src/config/schema.ts";

/**
 * A server's name, which stays the same as long as its address does: `10.0.0.5:8000/deepseek-v4`, and
 * `vllm:8000@10.0.0.5/deepseek-v4` for one of several addresses of a host.
 */
export function memberId({ url, address, model }: ServerConfig, modelId: string): string {
  const parsed = URL.parse(url);
  const place = parsed === null ? url : parsed.host || parsed.pathname.replace(/^\/+/, "");
  return `${place}${address === undefined ? "" : `@${address}`}/${model ?? modelId}`;
}
