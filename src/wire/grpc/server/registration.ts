import type { DescService } from "@bufbuild/protobuf";
import type { ServiceImpl } from "@connectrpc/connect";

/** A service and its implementation, in the form that every server and the direct transport take. */
export interface ServiceRegistration {
  readonly service: DescService;
  /** A missing method answers UNIMPLEMENTED. */
  readonly implementation: Partial<ServiceImpl<DescService>>;
}

/** Pairs a service with an implementation, whose types are checked against it. */
export function registration<S extends DescService>(
  service: S,
  implementation: Partial<ServiceImpl<S>>,
): ServiceRegistration {
  return { service, implementation: implementation as Partial<ServiceImpl<DescService>> };
}
