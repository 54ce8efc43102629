import * as grpc from "@grpc/grpc-js";
import { maxStreams } from "../wire/limits.ts";

/** Calls that a channel takes: fewer than a server allows, which counts those that are about to end as well. */
const maxCalls = Math.floor(maxStreams * 0.8);

/** A channel and the calls under way on it. */
export interface PooledChannel {
  readonly channel: grpc.Channel;
  calls: number;
}

/**
 * Channels to one target. A server takes 256 calls over a connection, and grpc-js makes one connection from a channel to
 * each address: further calls would wait, unseen, for others to end. So another channel is opened when those there are have
 * enough calls. A new call takes the first channel with room, so that the last ones fall idle and lose their connections.
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

  /** A channel for one more call, which is to be given back when the call is over. */
  take(): PooledChannel {
    const pooled = this.#channels.find(({ calls }) => calls < maxCalls) ?? this.#add();
    pooled.calls += 1;
    return pooled;
  }

  /** Takes no new calls; connections close when the calls under way are done. */
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
