import { createServer } from "node:net";
import { parseAddress } from "./address.ts";

/**
 * Claims a port of Linux for this process alone, beside others that claim it. It needs no file: the name of an abstract
 * socket, which is that of one network namespace, as ports are, and goes with its process. Rejects with EADDRINUSE
 * while another process has the claim. Resolves with what gives it back.
 */
export async function claimPort(address: string): Promise<() => void> {
  const { host = "", port = 0 } = parseAddress(address) ?? {};
  const claim = createServer((socket) => socket.destroy()).unref();
  await new Promise<void>((resolve, reject) => {
    const refuse = (error: Error) => reject(Object.assign(error, { address: host, port }));
    claim.once("error", refuse).listen(`\0tollgate ${host}:${port}`, () => {
      claim.off("error", refuse);
      resolve();
    });
  });
  return () => void claim.close();
}
