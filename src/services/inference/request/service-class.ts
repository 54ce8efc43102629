import type { ServiceClass as WiredClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { highestClass, lowerClass, readWiredClass, type ServiceClass } from "#lib/limits/service-class.ts";
import type { Caller } from "#src/wire/principal.ts";

/** The class in which a request runs: the class that it asks for, but none higher than its caller may have. */
export function settleServiceClass(
  wanted: WiredClass,
  { serviceClass, accountServiceClass }: Pick<Caller, "serviceClass" | "accountServiceClass">,
): ServiceClass {
  const highest = highestClass(serviceClass, accountServiceClass);
  return lowerClass(readWiredClass(wanted) ?? highest, highest);
}
