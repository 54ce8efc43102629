import { defineEntity, type InferEntity, p } from "@mikro-orm/core";

/** A fact about this installation that outlives a process, such as which key pepper it was begun with. */
export const Setting = defineEntity({
  name: "Setting",
  properties: {
    name: p.string().primary(),
    value: p.text(),
  },
});
export type Setting = InferEntity<typeof Setting>;
