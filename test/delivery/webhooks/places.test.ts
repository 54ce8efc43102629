import { expect, test } from "@jest/globals";
import { Places } from "#src/delivery/webhooks/places.ts";

const delivery = (webhookId: string, id: number) => ({ webhookId, id: `${webhookId} ${id}` });

test("an endpoint that is not known to work has one place, and eight after it took an event, until it fails", () => {
  const places = new Places();
  expect(places.take(delivery("a", 0))).toBe(true);
  expect(places.take(delivery("a", 1))).toBe(false);
  expect(places.full).toEqual(["a"]);
  places.leave(delivery("a", 0), true);
  const taken = Array.from({ length: 10 }, (_, id) => places.take(delivery("a", id)));
  expect(taken.filter(Boolean)).toHaveLength(8);
  expect(places.ids).toHaveLength(8);
  expect(places.take(delivery("a", 0))).toBe(false); // it is under way
  places.leave(delivery("a", 0), false);
  expect(places.full).toEqual(["a"]);
});

test("a hundred endpoints that hang leave room to one that works", () => {
  const places = new Places();
  for (let endpoint = 0; endpoint < 100; endpoint++) {
    for (let id = 0; id < 50; id++) {
      places.take(delivery(`hanging ${endpoint}`, id));
    }
  }
  expect(places.count).toBe(100);
  expect(places.room).toBeGreaterThan(8);
});
