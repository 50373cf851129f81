// A picture of many states, kept fresh: what events tell is drawn at once, an answer follows.
import { useEffect, useMemo, useRef } from "preact/hooks";
import { Teller, type Told } from "./live";
import type { Loaded } from "./load";
import type { LiveEvent } from "./stream";

/** How old the state of an answer may be when it comes. */
const BEHIND_MS = 1500;
const SETTLE_MS = 1000;
const SOON_MS = 100;

interface PictureOptions<Answer, Picture> {
  loaded: Loaded<Answer>;
  make: (answer: Answer) => Picture;
  /** Whether anything of it has changed. */
  apply: (picture: Picture, told: Told) => boolean;
  onChange: () => void;
}

interface LivePicture<Picture> {
  picture: Picture | null;
  /** The one that was made last, also while the page is not yet drawn with it. */
  newest: { current: Picture | null };
  /** Takes an event over. The answer is asked for again after a while; soon, if nothing can be drawn before. */
  hear: (event: LiveEvent, isUrgent?: (told: Told | null) => boolean) => void;
}

/** `of`: what is told of one DAG says nothing about another. */
export function usePicture<Answer, Picture>(of: string,
  { loaded, make, apply, onChange }: PictureOptions<Answer, Picture>): LivePicture<Picture> {
  const teller = useMemo(() => new Teller(), [of]);
  const { data } = loaded;
  const picture = useMemo(() => {
    if (!data) return null;
    const made = make(data);
    for (const told of teller.since(performance.now() - BEHIND_MS)) apply(made, told);
    return made;
  }, [data]);
  const newest = useRef(picture);
  newest.current = picture;
  const settle = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  useEffect(() => () => clearTimeout(settle.current), []);
  const hear = (event: LiveEvent, isUrgent?: (told: Told | null) => boolean) => {
    const told = teller.hear(event, performance.now());
    if (told && newest.current && apply(newest.current, told)) onChange();
    settle.current ??= setTimeout(() => {
      settle.current = undefined;
      loaded.reload();
    }, isUrgent?.(told) ? SOON_MS : SETTLE_MS);
  };
  return { picture, newest, hear };
}
