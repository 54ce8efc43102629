// Has the ORM find out about its entities once for each driver, as a process of the program does: a worker opens a database for
// most tests, and would spend 25 ms of CPU on it each time. What is found depends on nothing but the entities and the driver.
import { AsyncLocalStorage } from "node:async_hooks";
import { MetadataDiscovery, type MetadataStorage, MikroORM } from "@mikro-orm/core";

interface Of {
  readonly driver?: unknown;
  readonly entities?: unknown;
}

const opening = new AsyncLocalStorage<Of>();
const found: { readonly of: Of; readonly metadata: Promise<MetadataStorage> }[] = [];

const { init } = MikroORM;
MikroORM.init = function (this: unknown, options: Of) {
  return opening.run(options, () => Reflect.apply(init, this, [options]));
} as typeof init;

const { discover } = MetadataDiscovery.prototype;
MetadataDiscovery.prototype.discover = function (preferTs) {
  const { driver, entities } = opening.getStore() ?? {};
  const known = found.find(({ of }) => of.driver === driver && of.entities === entities);
  if (known !== undefined) {
    return known.metadata;
  }
  const metadata = discover.call(this, preferTs);
  found.push({ of: { driver, entities }, metadata });
  return metadata;
};
