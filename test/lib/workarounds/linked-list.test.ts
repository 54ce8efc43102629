import { expect, test } from "@jest/globals";
import { type Linked, LinkedList } from "#lib/workarounds/linked-list.ts";

interface Named extends Linked<Named> {
  readonly name: string;
}

const named = (name: string): Named => ({ name, list: undefined, earlier: undefined, later: undefined });
const names = (list: LinkedList<Named>) => list.toArray().map(({ name }) => name);

test("keeps the order in which they came", () => {
  const list = new LinkedList<Named>();
  const [a, b, c, d] = ["a", "b", "c", "d"].map(named) as [Named, Named, Named, Named];
  for (const one of [a, b, c, d, b]) {
    list.add(one);
  }
  expect([names(list), list.size]).toEqual([["a", "b", "c", "d"], 4]);
  list.delete(b);
  list.delete(b);
  list.delete(d);
  expect([names(list), list.size]).toEqual([["a", "c"], 2]);
  list.add(b);
  expect([list.shift(), list.first]).toEqual([a, c]);
  expect([list.shift(), list.shift(), list.shift(), list.size]).toEqual([c, b, undefined, 0]);
  list.add(a);
  expect(names(list)).toEqual(["a"]);
});

test("takes out only what is in it", () => {
  const [list, other] = [new LinkedList<Named>(), new LinkedList<Named>()];
  const [a, b] = ["a", "b"].map(named) as [Named, Named];
  list.add(a);
  other.add(b);
  other.add(a);
  other.delete(a);
  expect([names(list), names(other)]).toEqual([["a"], ["b"]]);
});

test("what has left points at nobody", () => {
  const list = new LinkedList<Named>();
  const all = ["a", "b", "c"].map(named);
  for (const one of all) {
    list.add(one);
  }
  for (const one of all) {
    list.delete(one);
    expect([one.earlier, one.later]).toEqual([undefined, undefined]);
  }
});
