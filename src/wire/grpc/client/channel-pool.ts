import * as grpc from "@grpc/grpc-js";
import { maxStreams } from "../messages/limits.ts";

/**
 * The most calls on a channel. It is below the server's limit, since the server also counts calls that are just ending.
 */
const maxCalls = Math.floor(maxStreams * 0.8);

/** A channel and the number of its running calls. */
export interface PooledChannel {
  readonly channel: grpc.Channel;
  calls: number;
}

/**
 * Channels to one target. A server takes 256 calls over a connection, and a grpc-js channel opens one connection to
 * each address: further calls would silently wait for others to end. So another channel is opened when all channels
 * have enough calls. A new call takes the first channel with room, so that the last channels fall idle and lose their
 * connections.
 */
export class ChannelPool {
  readonly first: grpc.Channel;
  readonly #channels: PooledChannel[] = [];
  readonly #open: () => grpc.Channel;
  #isClosed = false;

  constructor(target: string, credentials: grpc.ChannelCredentials, options: grpc.ChannelOptions) {
    // Channels with the same options would share one connection.
    const own = { ...options, "grpc.use_local_subchannel_pool": 1 };
    this.#open = () => new grpc.Channel(target, credentials, own);
    this.first = this.#add().channel;
  }

  /** A channel for one more call. The call must give it back when it is over. */
  take(): PooledChannel {
    const pooled = this.#channels.find(({ calls }) => calls < maxCalls) ?? this.#add();
    pooled.calls += 1;
    return pooled;
  }

  /** Takes no new calls. Connections close when the running calls are done. */
  close(): void {
    this.#isClosed = true;
    for (const { channel } of this.#channels) {
      channel.close();
    }
  }

  #add(): PooledChannel {
    const pooled = { channel: this.#open(), calls: 0 };
    if (this.#isClosed) {
      pooled.channel.close();
    }
    this.#channels.push(pooled);
    return pooled;
  }
}
