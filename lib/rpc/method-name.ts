import type { DescMethod } from "@bufbuild/protobuf";

const names = new Map<DescMethod, string>();

/**
 * A method's full name, such as "tollgate.inference.v1.InferenceService/Generate". Each method keeps one text, because
 * a new one would be hashed anew.
 */
export function methodName(method: DescMethod): string {
  let name = names.get(method);
  if (name === undefined) {
    name = `${method.parent.typeName}/${method.name}`;
    names.set(method, name);
  }
  return name;
}
