import type { Interceptor } from "@connectrpc/connect";

/** What an interceptor wraps: the rest of the call. */
export type Next = Parameters<Interceptor>[0];

/** Puts interceptors around a call; the first one is the outermost. */
export function applyInterceptors(interceptors: readonly Interceptor[], call: Next): Next {
  return interceptors.reduceRight<Next>((next, interceptor) => interceptor(next), call);
}
