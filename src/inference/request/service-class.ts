import { ServiceClass as WiredClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { lowerClass, type ServiceClass } from "../../../lib/service-class.ts";
import type { Caller } from "../../accounts/interface.ts";

/** The class that a request runs in: the one that it wants, and no higher than its key and its account may have. */
export function settleServiceClass(
  wanted: WiredClass,
  { serviceClass, accountServiceClass = "standard" }: Pick<Caller, "serviceClass" | "accountServiceClass">,
): ServiceClass {
  const highest = lowerClass(serviceClass ?? accountServiceClass, accountServiceClass);
  return lowerClass(fromWire(wanted) ?? highest, highest);
}

/** Undefined: unspecified, or a class of a newer client. */
function fromWire(wired: WiredClass): ServiceClass | undefined {
  switch (wired) {
    case WiredClass.FLEX:
      return "flex";
    case WiredClass.STANDARD:
      return "standard";
    case WiredClass.PRIORITY:
      return "priority";
    default:
      return undefined;
  }
}

export const wiredClasses: Readonly<Record<ServiceClass, WiredClass>> = {
  flex: WiredClass.FLEX,
  standard: WiredClass.STANDARD,
  priority: WiredClass.PRIORITY,
};
