"""Class colours that are easy to distinguish, on light and dark pages, for three classes or three hundred."""

from __future__ import annotations

import math

from planetoid.evaluation.charts import CLASS_COLOURS

__all__ = ["class_colours"]

# Beyond the fixed palette: hues at the golden angle, so that consecutive colours are far apart, at three levels of
# lightness, which readers with colour blindness can distinguish too.
GOLDEN_ANGLE = math.pi * (3 - math.sqrt(5))
LEVELS = (0.52, 0.70, 0.61)
CHROMA = 0.13


def class_colours(count: int, *, dark: bool = False) -> list[str]:
    """Return ``count`` colours as ``#rrggbb``, for a light or a dark page.

    >>> class_colours(2)
    ['#0072b2', '#e69f00']
    >>> len(set(class_colours(105)))
    105
    """
    colours = list(CLASS_COLOURS[:count])
    for number in range(count - len(colours)):
        hue = number * GOLDEN_ANGLE
        colours.append(_hex(LEVELS[number % len(LEVELS)], CHROMA * math.cos(hue), CHROMA * math.sin(hue)))
    return [_lightened(colour) for colour in colours] if dark else colours


def _lightened(colour: str) -> str:
    lightness, a, b = _oklab(colour)
    return _hex(max(lightness + 0.03, 0.62), a, b)


def _oklab(colour: str) -> tuple[float, float, float]:
    """Return the coordinates in Ottosson's OKLab, where distances are perceptual."""
    red, green, blue = (_linear(int(colour[start : start + 2], 16) / 255) for start in (1, 3, 5))
    long = (0.4122214708 * red + 0.5363325363 * green + 0.0514459929 * blue) ** (1 / 3)
    middle = (0.2119034982 * red + 0.6806995451 * green + 0.1073969566 * blue) ** (1 / 3)
    short = (0.0883024619 * red + 0.2817188376 * green + 0.6299787005 * blue) ** (1 / 3)
    return (
        0.2104542553 * long + 0.7936177850 * middle - 0.0040720468 * short,
        1.9779984951 * long - 2.4285922050 * middle + 0.4505937099 * short,
        0.0259040371 * long + 0.7827717662 * middle - 0.8086757660 * short,
    )


def _hex(lightness: float, a: float, b: float) -> str:
    long = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3
    middle = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3
    short = (lightness - 0.0894841775 * a - 1.2914855480 * b) ** 3
    channels = (
        4.0767416621 * long - 3.3077115913 * middle + 0.2309699292 * short,
        -1.2684380046 * long + 2.6097574011 * middle - 0.3413193965 * short,
        -0.0041960863 * long - 0.7034186147 * middle + 1.7076147010 * short,
    )
    return "#" + "".join(f"{round(255 * _encoded(min(max(value, 0.0), 1.0))):02x}" for value in channels)


def _linear(value: float) -> float:
    """Decode sRGB to linear light."""
    return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4


def _encoded(value: float) -> float:
    return 12.92 * value if value <= 0.0031308 else 1.055 * value ** (1 / 2.4) - 0.055
