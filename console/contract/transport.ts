import { Code, ConnectError, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-web";
import { connectionLost, connectionWorks } from "../app/connection.ts";
import { sessionEnded } from "../app/session.ts";
import { isLost } from "./failure.ts";

/** Tells the page whether the server is there, and that the session is over, whichever call learns of it. */
const watch: Interceptor = (next) => async (request) => {
  try {
    const response = await next(request);
    connectionWorks();
    return response;
  } catch (error) {
    const { code } = ConnectError.from(error);
    if (isLost(error)) {
      connectionLost();
    } else if (code !== Code.Canceled) {
      connectionWorks();
    }
    if (code === Code.Unauthenticated) {
      sessionEnded();
    }
    throw error;
  }
};

/** Calls of the contract go to the origin that the page came from; the session's cookie goes with them. */
export const transport = createConnectTransport({
  baseUrl: "/",
  useBinaryFormat: true,
  interceptors: [watch],
});
