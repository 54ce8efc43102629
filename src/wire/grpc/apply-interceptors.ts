import type { Interceptor } from "@connectrpc/connect";

/** The rest of a call, which an interceptor wraps. */
export type Next = Parameters<Interceptor>[0];

/** Wraps a call with interceptors. The first one is the outermost. */
export function applyInterceptors(interceptors: readonly Interceptor[], call: Next): Next {
  return interceptors.reduceRight<Next>((next, interceptor) => interceptor(next), call);
}
