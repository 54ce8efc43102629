import type { ServiceClass as WiredClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { highestClass, lowerClass, readWiredClass, type ServiceClass } from "../../../lib/service-class.ts";
import type { Caller } from "../../accounts/interface.ts";

/** The class that a request runs in: the one that it wants, and no higher than its caller may have. */
export function settleServiceClass(
  wanted: WiredClass,
  { serviceClass, accountServiceClass }: Pick<Caller, "serviceClass" | "accountServiceClass">,
): ServiceClass {
  const highest = highestClass(serviceClass, accountServiceClass);
  return lowerClass(readWiredClass(wanted) ?? highest, highest);
}
