declare const brand: unique symbol

/** A primitive that must not stand for another one of the same shape. */
export type Branded<T, Name extends string> = T & { readonly [brand]: Name }
