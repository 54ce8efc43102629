import type { World } from "../world.ts";

/** Restores the server's remembered tables. */
export function goBack(world: World, how: string): void {
  const { history, server } = world;
  history.fault(how);
  world.wentBack = true;
  server.goBack();
  world.breakConnections();
  world.excuseWhatIsGone();
  history.unsettle();
}
