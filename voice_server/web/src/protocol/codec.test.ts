import { expect, it } from "vitest";

import { decodeAudio } from "./codec";

it("takes the agent's audio apart: the epoch, then samples, both little endian", () => {
  const message = Uint8Array.of(3, 1, 0, 0, 0xff, 0x7f, 0x00, 0x80, 0x01);
  expect(decodeAudio(message.buffer)).toEqual({ epoch: 259, samples: Int16Array.of(32767, -32768) });
});

it("makes nothing of audio without a sample", () => {
  expect(decodeAudio(Uint8Array.of(3, 0, 0, 0).buffer)).toBeNull();
  expect(decodeAudio(new ArrayBuffer(0))).toBeNull();
});
