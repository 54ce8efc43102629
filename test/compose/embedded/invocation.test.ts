import { expect, test } from "@jest/globals";
import { invocationFor, readContainer } from "#src/compose/embedded/invocation.ts";

test.each([
  [["/run/.containerenv"], "3f2a01bc9d8e", { engine: "podman", name: "3f2a01bc9d8e" }],
  [["/.dockerenv"], "3f2a01bc9d8e", { engine: "docker", name: "3f2a01bc9d8e" }],
  [["/.dockerenv"], "tollgate-core-0", undefined], // a name of somebody's choice, as in a pod
  [[], "3f2a01bc9d8e", undefined],
])("with %j and the host %s the container is told", (files, host, container) => {
  expect(readContainer((path) => files.some((file) => file === path), host)).toEqual(container);
});

test("another shell runs a command in the container, or names the data directory", () => {
  const container = { engine: "podman", name: "3f2a01bc9d8e" } as const;
  expect(invocationFor("/data", {}, container)).toMatch(/^podman exec 3f2a01bc9d8e node \S+\/bin\/tollgate\.js$/);
  expect(invocationFor("/a b", {})).toMatch(/^TOLLGATE_DATA_DIR='\/a b' node \S+\/bin\/tollgate\.js$/);
});
