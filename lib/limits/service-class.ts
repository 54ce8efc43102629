import { ServiceClass as WiredClass } from "#gen/tollgate/inference/v1/service_class_pb.js";

/** The classes of requests, lowest first. A higher class goes first when requests wait, and is refused last. */
export const serviceClasses = ["flex", "standard", "priority"] as const;

export type ServiceClass = (typeof serviceClasses)[number];

/** What the class of an account or a key is, for people. */
export const classMeaning = "Priority when servers are full: flex, standard or priority.";

/** The lower one of two classes. */
export function lowerClass(one: ServiceClass, other: ServiceClass): ServiceClass {
  return serviceClasses.indexOf(one) < serviceClasses.indexOf(other) ? one : other;
}

/**
 * The class of a key's requests, which is also the highest that they may have: the key's own, but no higher than its
 * account's.
 */
export function highestClass(own: ServiceClass | undefined, account: ServiceClass = "standard"): ServiceClass {
  return lowerClass(own ?? account, account);
}

const wiredClasses: Readonly<Record<ServiceClass, WiredClass>> = {
  flex: WiredClass.FLEX,
  standard: WiredClass.STANDARD,
  priority: WiredClass.PRIORITY,
};

/** A class as the contract's. None: unspecified. */
export function toWiredClass(serviceClass: ServiceClass | null | undefined): WiredClass {
  return serviceClass ? wiredClasses[serviceClass] : WiredClass.UNSPECIFIED;
}

/** Undefined: unspecified, or a class of a newer client. */
export function readWiredClass(wired: WiredClass): ServiceClass | undefined {
  return serviceClasses.find((serviceClass) => wiredClasses[serviceClass] === wired);
}
