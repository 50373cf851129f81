// States on a canvas: the same colours and shapes as elsewhere, drawn once and then copied.
import { lookOf } from "../core/states";

/** Colours of the theme that is on. */
export class Skin {
  private readonly style: CSSStyleDeclaration;
  private readonly known = new Map<string, string>();
  readonly font: string;

  constructor(element: Element) {
    this.style = getComputedStyle(element);
    this.font = this.style.fontFamily;
  }

  /** "card", "text", "s-failed": the token without its dashes. */
  colour(name: string): string {
    let value = this.known.get(name);
    if (value === undefined) {
      value = this.style.getPropertyValue("--" + name).trim() || "#888";
      this.known.set(name, value);
    }
    return value;
  }

  ofState(state: string | null): string {
    return this.colour("s-" + lookOf(state).colour);
  }
}

/** The icon of a state as a bitmap of `size` CSS pixels. */
export class Glyphs {
  private readonly made = new Map<string, HTMLCanvasElement>();

  constructor(private readonly skin: Skin, readonly size: number, private readonly ratio: number) {}

  get(state: string): HTMLCanvasElement {
    let glyph = this.made.get(state);
    if (!glyph) {
      glyph = this.draw(state);
      this.made.set(state, glyph);
    }
    return glyph;
  }

  private draw(state: string): HTMLCanvasElement {
    const canvas = document.createElement("canvas");
    canvas.width = canvas.height = Math.round(this.size * this.ratio);
    const context = canvas.getContext("2d")!;
    const look = lookOf(state);
    const shape = new Path2D(look.shape);
    context.scale(canvas.width / 16, canvas.width / 16);
    context.fillStyle = this.skin.ofState(state);
    // What has not been decided is an outline: there may be very many of them.
    if (look.colour === "none") {
      context.strokeStyle = context.fillStyle;
      context.strokeRect(1, 1, 14, 14);
    } else {
      context.beginPath();
      context.roundRect(0, 0, 16, 16, 4);
      context.fill();
      context.strokeStyle = this.skin.colour("s-on");
    }
    context.fillStyle = context.strokeStyle;
    context.lineWidth = 2;
    context.lineCap = context.lineJoin = "round";
    context.stroke(shape);
    if (look.isFilled) context.fill(shape);
    return canvas;
  }
}

/** Texts shortened to a width; measuring is dear, so each is measured once. */
export class Texts {
  private readonly fitted = new Map<string, string>();

  fit(context: CanvasRenderingContext2D, text: string, width: number): string {
    const key = context.font + "\n" + width + "\n" + text;
    let shown = this.fitted.get(key);
    if (shown === undefined) {
      shown = shorten(context, text, width);
      if (this.fitted.size > 20_000) this.fitted.clear();
      this.fitted.set(key, shown);
    }
    return shown;
  }
}

function shorten(context: CanvasRenderingContext2D, text: string, width: number): string {
  if (context.measureText(text).width <= width) return text;
  let least = 0;
  let most = text.length;
  while (least < most) {
    const middle = Math.ceil((least + most) / 2);
    if (context.measureText(text.slice(0, middle) + "…").width <= width) least = middle;
    else most = middle - 1;
  }
  return text.slice(0, least) + "…";
}
