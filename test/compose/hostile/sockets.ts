import { connect, type Socket } from "node:net";

/** Connects to an address of this machine, such as "127.0.0.1:40000". */
export function open(address: string): Socket {
  return connect(Number(address.split(":").at(-1)), "127.0.0.1").on("error", () => {});
}

/** Everything that comes back for some bytes, until the other side closes. */
export async function exchange(bytes: string | Buffer, address: string): Promise<string> {
  const socket = open(address);
  let received = "";
  socket.setEncoding("latin1").on("data", (text) => {
    received += text;
  });
  socket.write(bytes);
  await closed(socket);
  return received;
}

export async function closed(socket: Socket): Promise<void> {
  socket.resume();
  if (!socket.closed) {
    await new Promise((resolve) => socket.once("close", resolve));
  }
}

/** The statuses of the answers in a text. */
export const statusesOf = (text: string): number[] =>
  [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status]) => Number(status));
