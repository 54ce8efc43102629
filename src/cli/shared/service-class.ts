import { Option } from "commander";
import type { ServiceClass } from "#gen/tollgate/inference/v1/service_class_pb.js";
import { classMeaning, readWiredClass, serviceClasses, toWiredClass } from "#lib/limits/service-class.ts";

/** The option for a class, or none. */
export function classOption(none: string): Option {
  return new Option("--class <class>", `${classMeaning} ${none}`).choices([...serviceClasses, "none"]);
}

/** A class in the contract's terms; unspecified for none. */
export function readClass(text: string): ServiceClass {
  return toWiredClass(serviceClasses.find((one) => one === text));
}

/** A class as documents show it. Null: no class. */
export function showClass(wired: ServiceClass): string | null {
  return readWiredClass(wired) ?? null;
}
