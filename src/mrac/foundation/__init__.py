"""Foundations: networks that predict relative depth from an image. One file each, named as users name it."""
