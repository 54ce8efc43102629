import type { Dice } from "../world/dice.ts";

/** Labels that cores keep: a hashed one and one that is kept as it is, with few values a day. */
export const keptLabels = {
  keep: [
    { name: "user", from: "user" },
    { name: "app", from: "header:x-title" },
  ],
  values_per_day: 5,
};

/** More values than a label may have in a day. All accounts serve the same people. */
const mostNames = 8;
/** Values that are recorded as "other", whatever came before. */
export const unkept = ["x".repeat(129), "two\nlines"];

/** What a request says of who uses the service: one of the labels, both or none, and what nobody keeps. */
export function drawStated(dice: Dice): Readonly<Record<string, string>> {
  const [user, app] = [dice.between(1, mostNames), dice.between(1, mostNames)];
  const [hasUser, hasApp, isBad] = [dice.chance(0.6), dice.chance(0.6), dice.chance(0.05)];
  return {
    ...(hasUser && { user: `person ${user}` }),
    ...(hasApp && { app: isBad ? dice.pick(unkept) : ` app ${app} ` }),
    session: "nobody keeps it",
  };
}
