/** The classes of requests, the lowest first: which goes first where requests wait, and which is refused first. */
export const serviceClasses = ["flex", "standard", "priority"] as const;

export type ServiceClass = (typeof serviceClasses)[number];

/** The lower one of two classes. */
export function lowerClass(one: ServiceClass, other: ServiceClass): ServiceClass {
  return serviceClasses.indexOf(one) < serviceClasses.indexOf(other) ? one : other;
}
