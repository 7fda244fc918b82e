import react from "@vitejs/plugin-react";
import { defineConfig } from "vitest/config";

export default defineConfig({
  plugins: [react()],
  // The server may stand behind a prefix: all addresses are relative to the page's own.
  base: "./",
  // LiveKit's client has 600 kB, and is loaded by who talks in a room.
  build: { target: "es2022", assetsInlineLimit: 0, chunkSizeWarningLimit: 700 },
  server: { proxy: { "/api": { target: "http://127.0.0.1:8080", ws: true } } },
  test: { include: ["src/**/*.test.ts"] },
});
