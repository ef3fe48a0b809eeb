/** Numbers shas 0, 1, 2 … in little memory: a hash table over bytes, without an object for each sha. */

/** The longest sha that a column holds. */
const WIDTH = 40

export class ShaIndex {
  size = 0
  #bytes = Buffer.alloc(WIDTH * 1024)
  #slots = new Int32Array(4096).fill(-1)

  /** Returns the number of a sha, assigned when it is first seen. Returns -1 for a text that cannot be a sha here. */
  add(sha: string): number {
    if (!isStorable(sha)) return -1
    const slot = this.#slotOf(sha)
    const known = this.#slots[slot] as number
    if (known >= 0) return known
    const number = this.size++
    if (this.size * WIDTH > this.#bytes.length) this.#bytes = Buffer.concat([this.#bytes], this.#bytes.length * 2)
    this.#bytes.fill(0, number * WIDTH, (number + 1) * WIDTH)
    this.#bytes.write(sha, number * WIDTH, WIDTH, 'latin1')
    this.#slots[slot] = number
    if (this.size * 2 > this.#slots.length) this.#grow()
    return number
  }

  find(sha: string): number {
    return isStorable(sha) ? (this.#slots[this.#slotOf(sha)] as number) : -1
  }

  at(number: number): string {
    const start = number * WIDTH
    let end = start + WIDTH
    while (end > start && this.#bytes[end - 1] === 0) end--
    return this.#bytes.toString('latin1', start, end)
  }

  /** Orders two numbers by their shas. */
  compare(one: number, other: number): number {
    return this.#bytes.compare(this.#bytes, other * WIDTH, (other + 1) * WIDTH, one * WIDTH, (one + 1) * WIDTH)
  }

  #slotOf(sha: string): number {
    const mask = this.#slots.length - 1
    let slot = hashOf(sha) & mask
    for (;;) {
      const number = this.#slots[slot] as number
      if (number < 0 || this.#equals(number, sha)) return slot
      slot = (slot + 1) & mask
    }
  }

  #equals(number: number, sha: string): boolean {
    const start = number * WIDTH
    for (let index = 0; index < sha.length; index++) {
      if (this.#bytes[start + index] !== sha.charCodeAt(index)) return false
    }
    return sha.length === WIDTH || this.#bytes[start + sha.length] === 0
  }

  #grow(): void {
    this.#slots = new Int32Array(this.#slots.length * 2).fill(-1)
    for (let number = 0; number < this.size; number++) this.#slots[this.#slotOf(this.at(number))] = number
  }
}

const isStorable = (sha: string): boolean => sha.length > 0 && sha.length <= WIDTH && /^[!-~]+$/.test(sha)

function hashOf(sha: string): number {
  let hash = 0x811c9dc5
  for (let index = 0; index < sha.length; index++) hash = Math.imul(hash ^ sha.charCodeAt(index), 0x01000193)
  return hash ^ (hash >>> 15)
}
