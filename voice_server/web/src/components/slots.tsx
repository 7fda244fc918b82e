/** What the agent shows. A page of one's own adds renderers: a name, and the component that draws such slots. */

import type { ComponentType } from "react";

import type { SlotShown } from "../protocol/wire";
import { Card } from "./Card";
import { PermissionRequest } from "./PermissionRequest";

export interface SlotProps {
  slot: SlotShown;
  /** Answer it. */
  resolve: (value: unknown) => void;
  /** Refuse to answer. */
  reject: (reason?: string) => void;
}

export type Renderers = Readonly<Record<string, ComponentType<SlotProps>>>;

/** The names that agents know; whatever has another is drawn as a card. */
export const RENDERERS: Renderers = { permission_request: PermissionRequest };

export interface SlotsProps {
  slots: readonly SlotShown[];
  resolve: (slot: string, value: unknown) => void;
  reject: (slot: string, reason?: string) => void;
  renderers?: Renderers;
}

export function Slots({ slots, resolve, reject, renderers = RENDERERS }: SlotsProps) {
  return (
    <section className="slots" aria-label="Shown by the agent" aria-live="polite">
      {slots.map((slot) => {
        const Renderer = Object.hasOwn(renderers, slot.renderer) ? renderers[slot.renderer]! : Card;
        return (
          <article key={slot.id} className="panel slot" data-state={slot.state} data-renderer={slot.renderer}>
            <Renderer
              slot={slot}
              resolve={(value) => resolve(slot.id, value)}
              reject={(reason) => reject(slot.id, reason)}
            />
          </article>
        );
      })}
    </section>
  );
}
